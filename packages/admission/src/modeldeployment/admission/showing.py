"""An example as YAML: of the object, what differs from the base, and enough around it to find the place."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
import yaml

from modeldeployment.admission import patching
from modeldeployment.admission.examples import GONE, Change, Example
from modeldeployment.admission.facts import Actor, Policy
from modeldeployment.admission.patching import Step

_WIDTH: Final = 110
_LONGEST: Final = 80
_MOST: Final = 12

_Paths = Sequence[Sequence[Step]]


def example(shown: Example) -> str:
    """The object of an example in Markdown, and on an update the stored one before it."""
    new, old = shown.objects()
    paths = [list(patching.steps(path)) for path in {**shown.new, **(shown.old or {})}]
    parts = [_around(shown)]
    if old is not None:
        parts += ["Stored:", _block(old, paths, ()), "Written:"]
    left_out = [path for path, value in shown.new.items() if value is GONE] if old is None else []
    parts.append(_block(new, paths, left_out))
    return "\n\n".join(part for part in parts if part)


def _block(document: Mapping[str, Any], paths: _Paths, left_out: Iterable[str]) -> str:
    picked = {"kind": document["kind"], **(_picked(document, paths) if paths else {"spec": document["spec"]})}
    written = yaml.safe_dump(_cropped(picked), sort_keys=False, allow_unicode=True, width=_WIDTH)
    without = "".join(f"# without {path}\n" for path in left_out)
    return f"```yaml\n{written}{without}```"


def _picked(document: Any, paths: _Paths) -> Any:
    """The parts of a document at those paths; what they pass through keeps its name, to tell entries apart."""
    if any(not path for path in paths):
        return document
    if isinstance(document, list):
        wanted = sorted({path[0] for path in paths if isinstance(path[0], int)})
        return [_picked(document[at], _below(paths, at)) for at in wanted if at < len(document)]
    if not isinstance(document, dict):
        return document
    firsts = {path[0] for path in paths}
    return {
        key: _picked(value, _below(paths, key)) if key in firsts else value
        for key, value in document.items()
        if key in firsts or (key == "name" and isinstance(value, str))
    }


def _below(paths: _Paths, step: Step) -> _Paths:
    return [path[1:] for path in paths if path[0] == step]


def _cropped(value: Any) -> Any:
    """The same value with long texts and long lists cut, saying how long they are."""
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:40]}… ({len(value)} characters)"
    if isinstance(value, dict):
        return {_cropped(key): _cropped(each) for key, each in value.items()}
    if isinstance(value, list):
        kept = [_cropped(each) for each in value[: 2 if len(value) > _MOST else _MOST]]
        return kept if len(value) <= _MOST else [*kept, f"… ({len(value)} entries)"]
    return value


def _around(shown: Example) -> str:
    """What else the example needs to be as it is: who writes, what is set, what stands in the cluster."""
    said = ["Written by the operator."] if shown.actor is Actor.OPERATOR else []
    said += [f"With the policy {name}: {getattr(shown.policy, name)}." for name in _set(shown.policy)]
    for name, changes in shown.known.items():
        said.append(
            f"With no `{name}` in the cluster." if changes is None else f"With `{name}` as follows: {_told(changes)}."
        )
    return " ".join(said)


def _set(policy: Policy) -> list[str]:
    usual = Policy()
    return [name for name in Policy.__dataclass_fields__ if getattr(policy, name) != getattr(usual, name)]


def _told(changes: Change) -> str:
    return ", ".join(
        f"no `{path}`" if value is GONE else f"`{path}: {msgspec.json.encode(value).decode()}`"
        for path, value in changes.items()
    )
