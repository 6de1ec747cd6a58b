"""What an engine's own parser makes of every rendered command line; one process for all of them."""

import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import conformance_parser
from conformance_matrix import Rendered
from modeldeployment.lab.packaged import Program
from modeldeployment.render import data
from render_artifacts import COMMIT

OURS: Final = "Qwen/Qwen2.5-72B-Instruct"
"""The model every deployment of the matrix serves."""
MOUNTED: Final = "/var/lib/gpustack/model"
WEIGHTS: Final = {
    "huggingFace-by-engine": ("Qwen/Qwen2.5-72B-Instruct", COMMIT),
    "huggingFace-by-node": (MOUNTED, None),
    "modelScope-by-engine": ("qwen/Qwen2.5-72B-Instruct", COMMIT),
    "modelScope-by-node": (MOUNTED, None),
    "persistentVolumeClaim-by-engine": (MOUNTED, None),
    "persistentVolumeClaim-by-node": (MOUNTED, None),
    "image-by-engine": (MOUNTED, None),
    "image-by-node": (MOUNTED, None),
}
"""Where the weights of each source are and in which revision, by the names of `conformance_matrix.weights`."""


@dataclass(frozen=True)
class Parsed:
    """What was parsed: by each command line its answer, and the arity of every flag by its spellings."""

    answers: dict[tuple[str, ...], dict[str, Any]]
    arities: dict[frozenset[str], str]

    def values(self, each: Rendered) -> dict[str, Any]:
        """Answer the values of a command line that was accepted."""
        return self.accepted(each.argv)

    def accepted(self, line: Sequence[str]) -> dict[str, Any]:
        """Answer the values of any command line that was accepted."""
        answer = self.answers[tuple(line)]
        assert "refused" not in answer, f"{' '.join(line)}: {answer['refused']}"
        values: dict[str, Any] = answer["values"]
        return values


def parse(program: Program, lines: Iterable[Sequence[str]], folder: Path) -> Parsed:
    """Let the program's own parser read each command line once."""
    distinct = list(dict.fromkeys(tuple(line) for line in lines))
    done = subprocess.run(
        [program.python, "-P", conformance_parser.__file__, program.name],
        input="".join(json.dumps(line) + "\n" for line in distinct),
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "HF_HUB_OFFLINE": "1"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    table, *answers = [json.loads(line) for line in done.stdout.splitlines()]
    arities = {frozenset(row["spellings"]): row["arity"] for row in table}
    return Parsed(dict(zip(distinct, answers, strict=True)), arities)


def kept(tag: str) -> dict[frozenset[str], str]:
    """Read the table that rendering and admission go by: arity by spellings, a negation among them."""
    rows = (line.split() for line in data.text(f"engines/{tag}.flags").splitlines() if not line.startswith("#"))
    return {frozenset(spelling.lstrip("!") for spelling in spellings): arity for arity, *spellings in rows}


def given(document: dict[str, Any] | None, like: dict[str, Any] | None) -> dict[str, Any] | None:
    """Keep of a parsed configuration the keys that another document has."""
    return None if document is None else {key: document[key] for key in like or document}


FITS: Final = {"0": range(1), "1": range(1, 2), "?": range(2), "+": range(1, 1000), "*": range(1000)}
"""How many values a flag of each arity takes."""


def strangers(tag: str, line: Sequence[str], *, start: int) -> list[str]:
    """List the flags of a command line, from word `start` on, that the table lacks or that have too many values."""
    arity = {spelling: each for spellings, each in kept(tag).items() for spelling in spellings}
    flags = [index for index in range(start, len(line)) if line[index].startswith("-")]
    values = {line[index]: end - index - 1 for index, end in pairwise((*flags, len(line)))}
    strange = [flag for flag, count in values.items() if flag not in arity or count not in FITS[arity[flag]]]
    return strange if flags and flags[0] == start else [*line[start : start + 1], *strange]
