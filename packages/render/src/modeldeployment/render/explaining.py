"""Where every value of a rendered object comes from, whose it is, and the rule that put it there.

A Pod's values are those its Parts placed; the rule of a Part is the first sentence of its docstring. Source:
architecture §2.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from modeldeployment.api import names
from modeldeployment.render import services
from modeldeployment.render.compose import ARGV, LISTS, Path
from modeldeployment.render.engine import Engine, Part
from modeldeployment.render.engines.takeover import TAKE_OVER
from modeldeployment.render.rendering import RoleRendering
from modeldeployment.render.template import Seat
from modeldeployment.router import Standing


@dataclass(frozen=True, slots=True)
class Origin:
    """One value of an object: its path, the value as it stands there, what placed it, whose it is, and the rule.

    Entries of lists that Parts fill one by one go by their name; a run of arguments is the list of its tokens. An empty
    path is the whole object.
    """

    path: Path
    value: Any
    part: str
    standing: Standing
    rule: str


def pod(role: RoleRendering, seat: Seat, engine: Engine) -> tuple[Origin, ...]:
    """Say where every value of one seat's Pod comes from, in the order its Parts placed them.

    Raises IndexError for a seat the role does not have.
    """
    body, rules = role.template.pod(seat), _rules(TAKE_OVER if role.unmanaged else engine.parts)
    found: list[Origin] = []
    taken: dict[Path, int] = {}
    for path, entry in role.placed.items():
        *above, last = path
        if ARGV in above:
            first = taken.get(tuple(above), 0)
            taken[tuple(above)] = first + len(entry.value)
            value: Any = _at(body, tuple(above))[first : first + len(entry.value)]
        elif isinstance(holder := _at(body, tuple(above)), Mapping):
            if last not in holder:
                continue  # the eligibility label, on a member that does not answer
            value = holder[last]
        else:
            key = LISTS[above[-1]]
            value = {name: inner for name, inner in _named(holder, key, last).items() if name != key}
        found.append(Origin(path, value, entry.part, entry.standing, rules[entry.part]))
    return tuple(found)


def service(body: Mapping[str, Any]) -> Origin:
    """Say where a rendered Service comes from: each is made whole by one function."""
    metadata = body["metadata"]
    owner = next(each["name"] for each in metadata["ownerReferences"])
    made: Callable[..., object]
    if body["spec"].get("clusterIP") == "None":
        made = services.replica_service
    elif metadata["name"] == names.deployment_service(owner):
        made = services.deployment_service
    else:
        made = services.role_service
    return Origin((), body, made.__name__, Standing.OWNED, first_sentence(made.__doc__))


def spelled(path: Path) -> str:
    """A path as a person reads it: `spec.containers[main].env[NAME]`, a key that is no plain name in brackets."""
    text, above = "", ""
    for step in path:
        plain = above not in LISTS and above != ARGV and step.replace("-", "").replace("_", "").isalnum()
        text += f"{'.' if text else ''}{step}" if plain else f"[{step}]"
        above = step
    return text


def first_sentence(docstring: str | None) -> str:
    """The first sentence of a docstring on one line, without its full stop."""
    words = " ".join((docstring or "").split("\n\n")[0].split())
    return words.partition(". ")[0].removesuffix(".")


def _rules(parts: Iterable[Part]) -> dict[str, str]:
    return {part.__name__: first_sentence(part.__doc__) for part in parts}


def _at(body: Mapping[str, Any], path: Path) -> Any:
    """What stands at a path of the assembled object; in a list the entry of that name."""
    found: Any = body
    for above, step in zip(("", *path), path, strict=False):
        found = _named(found, LISTS[above], step) if isinstance(found, list) else found[step]
    return found


def _named(entries: list[dict[str, Any]], key: str, name: str) -> dict[str, Any]:
    return next(entry for entry in entries if entry[key] == name)
