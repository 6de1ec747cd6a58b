"""A walk that finds nothing has to be able to find something: known bugs, put into planning, break a promise."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from modeldeployment.lab.exploring import explore
from modeldeployment.scaler.planning import cohorts, editing, guarding, ratios
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.memory import Memory
from modeldeployment.scaler.planning.moving import Moved

Seed = Callable[[pytest.MonkeyPatch], None]
_AGAINST_GROWTH, _AGAINST_RELEASE, _TIMED_OUT = guarding.against_growth, guarding.against_release, cohorts.timed_out


def _growth_beside_a_cohort(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(guarding, "against_growth", lambda *given: _without(Cause.COHORT_PENDING, _AGAINST_GROWTH(*given)))


def _shrinkage_unseen(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        guarding, "against_release", lambda *given: _without(Cause.COVERAGE_INCOMPLETE, _AGAINST_RELEASE(*given))
    )


def _retirements_side_by_side(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(guarding, "leaving", lambda _target: None)


def _half_a_rollback(patch: pytest.MonkeyPatch) -> None:
    def half(memory: Memory, target: Any, declared: dict[str, int], *more: Any) -> Moved | None:
        whole = _TIMED_OUT(memory, target, declared, *more)
        if whole is None:
            return None
        first = next(role for role, count in whole.vector.items() if count != declared[role])
        return replace(whole, vector=declared | {first: whole.vector[first]})

    patch.setattr(cohorts, "timed_out", half)


def _a_cohort_that_never_ends(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cohorts, "looked_at", lambda memory, _target: memory)


def _a_baseline_that_brings_back_what_shrank(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cohorts, "shrunk", lambda cohort, _after: cohort)


def _counts_of_people_written_over(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(editing, "_yielded", lambda memory: memory)


def _a_restore_that_takes_later_growth(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ratios, "join", lambda _one, other: dict(other))


def _without(cause: Cause, guards: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    return (guard for guard in guards if guard[0] is not cause)


@pytest.mark.parametrize(
    "seed",
    [
        _growth_beside_a_cohort,
        _shrinkage_unseen,
        _retirements_side_by_side,
        _half_a_rollback,
        _a_cohort_that_never_ends,
        _a_baseline_that_brings_back_what_shrank,
        _counts_of_people_written_over,
        _a_restore_that_takes_later_growth,
    ],
    ids=lambda seed: seed.__name__.strip("_"),
)
def test_a_known_bug_breaks_a_promise(seed: Seed, monkeypatch: pytest.MonkeyPatch) -> None:
    seed(monkeypatch)
    found = explore(10_000)
    assert found.broken
    assert found.states < 10_000
