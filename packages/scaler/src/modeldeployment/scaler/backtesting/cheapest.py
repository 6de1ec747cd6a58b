"""The cheapest schedule for somebody who knows the future, by an exact sweep over how many replicas are needed.

At every second as many are needed as serve the work of the last seconds in even parts, so that none of it waits longer
than the limit. Level by level (the first replica above the minimum, the second, ...) a gap in which one is not needed
is kept, or the replica leaves and comes again, cold: whichever is cheaper. Gaps of a higher level hold those of a
lower one, so levels do not hinder each other, and the sum of their cheapest schedules is the cheapest.
"""

from collections.abc import Iterator, Sequence

from modeldeployment.scaler.backtesting.fleets import Fleet, Group
from modeldeployment.scaler.backtesting.traces import Trace


def needed(trace: Trace, group: Group, limit: int, step: int) -> list[int]:
    """Replicas that have to be ready in each step of so many seconds; never below the minimum or above the maximum."""
    work = [group.work(each.prompt, each.generation) for each in trace.seconds]
    window = limit + 1
    recent = 0
    seconds: list[int] = []
    for at, came in enumerate(work):
        recent += came - (work[at - window] if at >= window else 0)
        seconds.append(-(-recent // (window * group.peak)))
    # What came in the last seconds is due after the trace's end, within its last step.
    steps = [max(seconds[at : at + step]) for at in range(0, len(seconds), step)]
    return [min(max(each, group.minimum), group.maximum) for each in steps]


def schedule(need: Sequence[int], minimum: int, cold: int, leaving: int) -> list[int]:
    """Replicas to declare in each step so that those needed are ready, at the least cost.

    `cold` and `leaving` are steps: how long before it is needed one has to be declared, and what one that leaves costs.
    Whoever is declared in the first step is ready in it.
    """
    declared = [minimum] * len(need)
    for level in range(minimum + 1, max(need, default=0) + 1):
        for start, end in _kept([each >= level for each in need], cold, leaving):
            for at in range(start, end):
                declared[at] += 1
    return declared


def of(trace: Trace, fleet: Fleet, step: int) -> list[dict[str, int]]:
    """The vectors to declare, step by step, for a fleet; each role is planned by itself."""
    cold, leaving = -(-fleet.cold_seconds // step), -(-fleet.leaving_seconds // step)
    roles = {
        group.name: schedule(needed(trace, group, fleet.limit_seconds, step), group.minimum, cold, leaving)
        for group in fleet.groups
    }
    return [{name: counts[at] for name, counts in roles.items()} for at in range(len(next(iter(roles.values()))))]


def _kept(needs: Sequence[bool], cold: int, leaving: int) -> Iterator[tuple[int, int]]:
    """From which step to which a replica is declared that is needed in these."""
    start: int | None = None
    end = 0
    for at, this in enumerate(needs):
        if not this:
            continue
        if start is None:
            start = 0 if at <= cold else at - cold
        elif at - end > cold + leaving:
            yield start, end
            start = at - cold
        end = at + 1
    if start is not None:
        yield start, end
