"""Whether the cache is used: observed of the replicas, never read off a flag (facts status §10)."""

from dataclasses import replace

import pytest
from modeldeployment.reconcile import Attachment, Member, Snapshot
from modeldeployment.reconcile.deciding.seen import Account
from modeldeployment.render import Domain
from reconcile_worlds import ECHO, condition, deployment, pod, role, snapshot

CACHED = deployment(kv_cache="share")
EMPTY = Attachment(Domain.REGISTERED, ECHO, connected=True)
FILLED = replace(EMPTY, filled=True)
YES, NO = Account.SUCCEEDING, Account.FAILING


def told(seen: Snapshot) -> tuple[str, str]:
    """Status and reason of the condition."""
    found = condition(seen, "CacheAttached")
    return found["status"], found["reason"]


def saying(*accounts: Account | None, cache: Attachment = EMPTY, members: list[Member] | None = None) -> Snapshot:
    """Two replicas, of which each says what is given."""
    members = members or [pod(), pod(ordinal=1)]
    said = {member.uid: account for member, account in zip(members, accounts, strict=False) if account is not None}
    return snapshot(CACHED, members, cache=cache, accounts=said)


@pytest.mark.parametrize(
    ("accounts", "cache", "expected"),
    [
        ((YES, None), EMPTY, ("True", "CacheActive")),
        ((YES, NO), EMPTY, ("True", "CacheActive")),
        ((NO, None), EMPTY, ("False", "CacheOperationsFailing")),
        ((NO, None), FILLED, ("False", "CacheOperationsFailing")),
        ((None, None), FILLED, ("True", "CacheActive")),
        ((None, None), EMPTY, ("Unknown", "NoObservationAvailable")),
    ],
)
def test_one_replica_that_succeeds_is_enough_and_the_domain_is_asked_only_where_all_are_silent(
    accounts: tuple[Account | None, ...], cache: Attachment, expected: tuple[str, str]
) -> None:
    assert told(saying(*accounts, cache=cache)) == expected


def test_what_a_replica_said_before_it_stopped_being_ready_does_not_count() -> None:
    members = [pod(ready=False), pod(ordinal=1)]
    assert told(saying(YES, None, members=members)) == ("Unknown", "NoObservationAvailable")


def test_without_a_ready_replica_nobody_can_say() -> None:
    members = [pod(ready=False), pod(ordinal=1, ready=False)]
    assert told(saying(YES, YES, cache=FILLED, members=members)) == ("Unknown", "NoReplicaReady")


def test_a_role_that_brings_its_own_command_leaves_it_unknown_whatever_others_say() -> None:
    of = deployment(roles=[role(command=["serve"])], kv_cache="share")
    members = [pod(), pod(ordinal=1)]
    seen = snapshot(of, members, cache=FILLED, accounts={members[0].uid: YES})
    assert told(seen) == ("Unknown", "Unmanaged")


def test_without_a_cache_it_does_not_apply() -> None:
    assert told(snapshot()) == ("True", "NotApplicable")
