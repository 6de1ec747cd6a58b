"""One object judged: its schema, then everything the webhook would say, as far as it is known."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from modeldeployment.admission import patching, schema
from modeldeployment.admission.facts import Actor, Facts
from modeldeployment.admission.reviewing import REVIEWED, review
from modeldeployment.admission.rules import others
from modeldeployment.admission.schema import structure
from modeldeployment.admission.verdict import Finding, Refusal, Verdict
from modeldeployment.operator.people.manifests import Manifest

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Judged:
    """An object and its verdict; `unread` names what was not looked up, so that rules which hang on it said nothing."""

    manifest: Manifest
    namespace: str
    verdict: Verdict


def judge(new: Body, old: Body | None, facts: Facts, actor: Actor, unread: tuple[str, ...] = ()) -> Verdict:
    """Judge the write of `new` over `old` (None: a create), both of one of our kinds or of none this release knows.

    The schema speaks first, as it does in the API server, but does not silence the rest: all that is wrong comes back
    together, in field order, once for each field.
    """
    held = _news(schema.violations(new), old)
    kind = structure.of(str(new.get("kind")))
    if kind is None or any(each.code == "MD909" for each in held):
        return Verdict(dict(new), refusals=held)
    whole, before = kind.defaulted(new), None if old is None else kind.defaulted(old)
    if kind.kind not in REVIEWED:
        ruled = others.refusals(whole, before)
        return Verdict(whole, refusals=_in_order(kind, held, ruled), unread=unread)
    # What the schema refuses may keep the object from being read: the rest is judged with that settled where it can be.
    mended = patching.applied(whole, [step for each in held for step in each.patch]) if held else whole
    verdict = review(mended, before, facts, actor)
    return replace(
        verdict,
        defaulted=kind.defaulted(verdict.defaulted) if mended is whole else whole,
        refusals=_in_order(kind, held, verdict.refusals),
        unread=unread,
    )


def _news(found: tuple[Refusal, ...], old: Body | None) -> tuple[Refusal, ...]:
    """Without what the stored object already has: the API server's schema lets that stay, unknown fields excepted."""
    stored = {(each.code, each.field, repr(each.value)) for each in schema.violations(old)} if old is not None else ()
    return tuple(
        each for each in found if each.code == "MD901" or (each.code, each.field, repr(each.value)) not in stored
    )


def _in_order(kind: structure.Structure, held: tuple[Refusal, ...], ruled: tuple[Refusal, ...]) -> tuple[Refusal, ...]:
    fields = {each.field for each in held}
    rest = [each for each in ruled if each.field not in fields]
    return tuple(sorted((*held, *rest), key=lambda each: kind.place(tuple(patching.steps(each.field)))))


def findings(verdict: Verdict) -> tuple[Finding, ...]:
    """Refusals, then warnings."""
    return (*verdict.refusals, *verdict.warnings)
