"""Which program a router process runs, in which version, and how that one is shown to have let go of a member.

A version outside of what was measured proves nothing (decisions D8). What a process runs is known by its image: one
that holds a router's program alone is named after it and tagged with its version; the operator's own default holds all
of them. Sources: facts routing §3, routers-measured §7.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from modeldeployment.api.choices import RouterName
from modeldeployment.router.withdrawal import gateway, old_vllm, picker, vllm
from modeldeployment.router.withdrawal.asking import Advance

Version: TypeAlias = tuple[int, int, int]

_TAG: Final = re.compile(r"v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})(?:[-.+_].*)?", re.ASCII)
_HOLDS_ALL: Final[Mapping[str, Mapping[RouterName, str]]] = MappingProxyType(
    {
        "v0.1.0": {RouterName.LLM_D: "0.10.0", RouterName.VLLM: "0.1.15", RouterName.SGLANG: "0.3.1"},
        "v0.2.0": {RouterName.LLM_D: "0.10.0"},
    }
)
"""What is in each release of the image that holds every router's program; how it changed others was not measured."""
_ALL: Final = "llm-router"
_NAMES: Final[Mapping[RouterName, tuple[str, ...]]] = MappingProxyType(
    {
        RouterName.LLM_D: ("llm-d-router", "llm-d-router-endpoint-picker", "llm-d-inference-scheduler"),
        RouterName.VLLM: ("vllm-router",),
        RouterName.SGLANG: ("sglang-router", "sgl-router", "sgl-model-gateway", "sglang-gateway"),
    }
)
"""What images of one program are called: the last part of their repository."""


@dataclass(frozen=True, slots=True)
class Program:
    """One program in the versions from `first` up to `beyond`, which is no longer measured.

    `withdraw` and `restore` say, over and over, what to ask a process of it next and what is known by now. `listed`
    says whether it lists workers that somebody may have to take out again, by `by_id` under ids of its own.
    """

    title: str
    first: Version
    beyond: Version
    withdraw: Advance
    restore: Advance
    listed: bool = True
    by_id: bool = False


_PROGRAMS: Final[Mapping[RouterName, tuple[Program, ...]]] = MappingProxyType(
    {
        RouterName.LLM_D: (
            Program("llm-d-router", (0, 7, 1), (0, 11, 0), picker.withdraw, picker.restore, listed=False),
        ),
        RouterName.VLLM: (
            Program("vllm-router", (0, 1, 17), (0, 2, 0), vllm.withdraw, vllm.restore),
            Program("vllm-router", (0, 1, 15), (0, 1, 17), old_vllm.withdraw, old_vllm.restore),
        ),
        RouterName.SGLANG: (
            Program("sglang-router", (0, 3, 1), (0, 4, 0), gateway.withdraw, gateway.restore, by_id=True),
        ),
    }
)


def version(router: RouterName, image: str) -> str:
    """Answer the version of a router's program in an image; empty where its name does not tell."""
    repository, _, tag = image.partition("@")[0].rpartition(":")
    name = repository.rpartition("/")[2]
    if "/" in tag or not name:
        return ""
    if name == _ALL:
        return _HOLDS_ALL.get(tag, {}).get(router, "")
    read = _TAG.fullmatch(tag)
    return ".".join(str(int(part)) for part in read.groups()) if read and name in _NAMES[router] else ""


def program(router: RouterName, running: str) -> Program | None:
    """Answer how a program of this version is shown to have let go; None for one that was not measured."""
    read = _TAG.fullmatch(running)
    if read is None:
        return None
    found = (int(read[1]), int(read[2]), int(read[3]))
    return next((each for each in _PROGRAMS[router] if each.first <= found < each.beyond), None)


def unproven(router: RouterName, running: str) -> str:
    """Say, after the name of a router Pod, why it proves nothing, and the way out."""
    known = " or ".join(f"{_text(each.first)} up to {_text(each.beyond)}" for each in reversed(_PROGRAMS[router]))
    names = _NAMES[router]
    if not running:
        return (
            f"runs an image that does not tell the version of {router.value}; set spec.router.image to one named "
            f"{names[0]} and tagged with its version, {known}"
        )
    return (
        f"runs {router.value} {running}, of which it is not known how it lets go of a replica; set spec.router.image "
        f"to {known}"
    )


def _text(parts: Version) -> str:
    return ".".join(map(str, parts))
