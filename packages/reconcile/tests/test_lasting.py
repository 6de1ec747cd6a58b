"""How long a decision lasts that writes nothing: until what it was made on changes in more than restarts."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from modeldeployment.reconcile import Answers, Decision, Done, Queue, Snapshot
from modeldeployment.reconcile.deciding.lasting import Lasting, lasting
from reconcile_worlds import decision, deployment, pod, refusal, settled, snapshot


def kept(seen: Snapshot) -> Lasting:
    """The decision of a settled deployment."""
    found = lasting(seen, decision(seen))
    assert found is not None
    return found


def with_first(seen: Snapshot, **fields: object) -> Snapshot:
    """The snapshot with its first member changed."""
    first, *others = seen.members
    return replace(seen, members=(replace(first, **fields), *others))  # type: ignore[arg-type]


def test_what_has_not_changed_is_decided_alike() -> None:
    seen = settled()
    assert kept(seen).on(replace(seen)) == Decision(Done())


def test_a_restart_is_announced_and_nothing_else_is_decided_anew() -> None:
    seen = with_first(settled(), restarts=1)
    again = kept(seen).on(with_first(seen, restarts=2))
    assert again is not None
    assert again == decision(with_first(seen, restarts=2))
    assert [each.about for each in again.events] == ["uid-chat-server-0-0/2"]


@pytest.mark.parametrize(
    "change",
    [
        lambda seen: with_first(seen, ready=False),
        lambda seen: with_first(seen, restarts=1, ready=False),
        lambda seen: with_first(seen, evicted=True),
        lambda seen: replace(seen, members=seen.members[1:]),
        lambda seen: replace(seen, members=(*seen.members, pod(ordinal=7))),
        lambda seen: replace(seen, workloads=seen.workloads[1:]),
        lambda seen: replace(seen, objects=seen.objects[1:]),
        lambda seen: replace(seen, status={}),
        lambda seen: replace(seen, queues={"elsewhere": Queue("other")}),
        lambda seen: replace(seen, deployment=deployment(replicas=7)),
        lambda seen: replace(seen, rendering=refusal()),
        lambda seen: replace(seen, stale=True),
    ],
)
def test_any_other_change_asks_for_a_decision(change: Callable[[Snapshot], Snapshot]) -> None:
    seen = settled()
    assert kept(seen).on(change(seen)) is None


@pytest.mark.parametrize(
    "seen",
    [
        snapshot(),
        replace(settled(), answers=Answers({"server": frozenset()})),
        replace(settled(), stale=True),
        replace(settled(), rendering=refusal(retryable=False)),
        settled(deployment(deleted=True)),
    ],
    ids=["it writes status", "it was asked for", "the store lags", "it is refused", "it goes"],
)
def test_a_decision_does_not_last_where(seen: Snapshot) -> None:
    decided = Decision(Done()) if seen.answers != Answers() else decision(seen)
    assert lasting(seen, decided) is None
