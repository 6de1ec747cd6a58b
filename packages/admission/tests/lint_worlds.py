"""What a review warns about, as lines a test can compare."""

from collections.abc import Mapping
from typing import Any

from modeldeployment.admission.examples import Change, Example
from modeldeployment.admission.facts import Actor, Policy
from modeldeployment.admission.gathering import from_manifests
from modeldeployment.admission.reviewing import review
from modeldeployment.admission.verdict import Caution


def cautions(
    new: Change,
    old: Change | None = None,
    *,
    scaler: bool = False,
    actor: Actor = Actor.USER,
    known: Mapping[str, Change | None] | None = None,
    policy: Policy | None = None,
) -> tuple[Caution, ...]:
    """The warnings for an object that differs from the base by `new`."""
    example = Example(new, old, scaler, actor, known=known or {}, policy=policy or Policy())
    written, stored = example.objects()
    return review(written, stored, from_manifests(example.cluster(), example.policy), actor).warnings


def warned(new: Change, old: Change | None = None, **more: Any) -> list[tuple[str, str]]:
    """Code and field of each of those warnings."""
    return [(each.code, each.field) for each in cautions(new, old, **more)]


def role(kind: str, instance_type: str = "h20-8x", **more: Any) -> dict[str, Any]:
    """A role of that kind, called as its kind, on one whole card."""
    return {
        "name": kind.lower(),
        "kind": kind,
        "instanceType": instance_type,
        "resources": {"accelerator": 1},
        **more,
    }
