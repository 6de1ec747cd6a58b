"""Whether a run was as good as one that nothing disturbed; every finding is a sentence."""

from collections.abc import Iterator
from typing import Final

from modeldeployment.lab.crashes.faults import Disturb, Fault, Hurry, Kill, Lose, Refusal, Refuse, Undisturbed
from modeldeployment.lab.crashes.playing import Run
from modeldeployment.lab.crashes.scenes import Scene
from modeldeployment.lab.model import Write
from modeldeployment.lab.model.resources import JSON

_ENDED: Final = {
    "outcomes": "ends otherwise",
    "objects": "leaves other objects",
}


def sound(run: Run) -> list[str]:
    """What is wrong with a run that nothing disturbed, by what its scenario says of its end."""
    return [*run.broken, *(_ends(run) if not run.broken else ())]


def judged(run: Run, plain: Run) -> list[str]:
    """What is wrong with a disturbed run, by what it shares with the undisturbed one of its scenario."""
    return [*run.broken, *(_compared(run, plain) if not run.broken else ())]


def _ends(run: Run) -> Iterator[str]:
    ends = run.scenario.ends
    phases = tuple(each.phase for each in run.outcomes)
    if phases != ends.phases:
        yield f"ends in {phases}, not {ends.phases}"
    for wanted, outcome in zip(ends.quota, run.outcomes, strict=False):
        said = next((reason for kind, _, reason in outcome.conditions if kind == "QuotaReserved"), "")
        if wanted and said != wanted:
            yield f"QuotaReserved says {said}, not {wanted}"
    if (pods := (run.created["pods"], run.deleted["pods"])) != ends.pods:
        yield f"creates and deletes {pods} Pods, not {ends.pods}"
    if run.survivors != frozenset(ends.survivors):
        yield f"{', '.join(sorted(run.survivors)) or 'nobody'} survives, not {', '.join(ends.survivors) or 'nobody'}"
    left = tuple(each.partition(" ")[0] for each in run.left)
    if ends.left and left != ends.left:
        yield f"{', '.join(left)} leave in this order, not {', '.join(ends.left)}"
    if run.idle:
        yield f"{run.idle} writes change nothing"
    yield from (f"pass failed: {each}" for each in run.failures)


def _compared(run: Run, plain: Run) -> Iterator[str]:
    for name, sentence in _ENDED.items():
        here, there = getattr(run, name), getattr(plain, name)
        if here != there:
            yield f"{sentence}: {_difference(here, there)}"
    if isinstance(run.fault, Hurry):
        return
    if lost := plain.survivors - run.survivors:
        yield f"{', '.join(sorted(lost))} did not survive"
    yield from _costs(run, plain)
    if _harmless(run.fault):
        # In another order somebody else may have been faster with the same.
        if run.idle > plain.idle and isinstance(run.fault, Disturb):
            yield f"{run.idle} writes change nothing"
        yield from (f"pass failed: {each}" for each in run.failures)
    elif len(run.failures) > _failing(run):
        yield f"{len(run.failures)} passes failed: {run.failures[-1]}"


def _failing(run: Run) -> int:
    """How many passes a fault may fail: a conflict fails none of a deployment, but for Pods: it is taken again."""
    if isinstance(run.fault, Kill):
        return 0
    conflict = isinstance(run.fault, Refuse) and run.fault.how is Refusal.CONFLICT
    quiet = {"modeldeployments", *Scene.OWNED} - {"pods"}
    return 0 if conflict and isinstance(run.hit, Write) and run.hit.plural in quiet else 1


def _costs(run: Run, plain: Run) -> Iterator[str]:
    """Creates and deletes beyond those of the undisturbed run, less what the fault itself costs."""
    grace = cost(run)
    for word, here, there in (("created", run.created, plain.created), ("deleted", run.deleted, plain.deleted)):
        for plural in sorted({*here, *there}):
            # Kueue composes a group anew that still runs when its Workload goes; that one goes too.
            recomposed = max(0, run.composed - plain.composed) if plural == "workloads" and word == "deleted" else 0
            over = (
                here[plural]
                - there[plural]
                - (grace if plural in ("pods", "workloads") else run.scenario.spare)
                - recomposed
            )
            if over > 0:
                yield f"{over} {plural} {word} too many"
    if not grace and run.scenario.ends.left:
        for role in sorted({each.partition("/")[0] for each in (*run.left, *plain.left)}):
            mine = [each for each in run.left if each.startswith(f"{role}/") and each in plain.left]
            theirs = [each for each in plain.left if each.startswith(f"{role}/") and each in run.left]
            if mine != theirs:
                yield f"replicas leave in another order: {mine}, not {theirs}"


def cost(run: Run) -> int:
    """Pods that a fault may cost: a wide replica of which a create was hit is thrown away and made again, whole.

    A delay, a merged event and another order cost nothing; nor does any write that creates no member of several.
    """
    if not isinstance(run.fault, Kill | Lose | Refuse) or not isinstance(run.hit, Write):
        return 0
    made = run.hit.request.method == "POST" and run.hit.plural == "pods"
    return run.scenario.width if made and run.scenario.width > 1 else 0


def _harmless(fault: Fault) -> bool:
    return isinstance(fault, Disturb | Undisturbed)


def _difference(here: object, there: object) -> str:
    """The first place in which two values differ."""
    if isinstance(here, tuple) and isinstance(there, tuple) and len(here) == len(there):
        return next((_difference(a, b) for a, b in zip(here, there, strict=True) if a != b), "")
    if hasattr(here, "__slots__") and type(here) is type(there):
        for name in here.__slots__:
            if getattr(here, name) != getattr(there, name):
                return f"{name} {_difference(getattr(here, name), getattr(there, name))}"
    if isinstance(here, dict) and isinstance(there, dict):
        return next((f"{key} {_difference(here.get(key), there.get(key))}" for key in _keys(here, there)), "")
    if isinstance(here, frozenset) and isinstance(there, frozenset):
        return f"{sorted(here)}, not {sorted(there)}"
    return f"{here!r:.200}, not {there!r:.200}"


def _keys(here: JSON, there: JSON) -> Iterator[str]:
    return (key for key in sorted({*here, *there}) if here.get(key) != there.get(key))
