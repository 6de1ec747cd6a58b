"""The claim on the binding of a cache: made on every pass that can read it, given back after the last Pod has left."""

from dataclasses import replace

import pytest
from modeldeployment.reconcile import Answers, Attachment, Done, Snapshot
from modeldeployment.reconcile.deciding.seen import User
from modeldeployment.reconcile.deciding.steps import AddFinalizer, CreateReplica, DropFinalizer, SetUsers, Step
from modeldeployment.render import Domain
from reconcile_worlds import ECHO, STORE, decision, deployment, names, pod, refusal, settled, snapshot, steps

CACHED = deployment(kv_cache="share")
US = User("ModelDeployment", "", "chat")
BEFORE, AFTER = User("Instance", "", "x"), User("ModelDeployment", "", "zebra")
READ = Attachment(Domain.REGISTERED, ECHO, connected=True, used_by=(AFTER, BEFORE), version="7")


def attached(cache: Attachment | None = READ, **fields: object) -> Snapshot:
    """A settled deployment with a cache."""
    return replace(settled(CACHED, store=STORE, cache=cache), **fields)  # type: ignore[arg-type]


def claims(seen: Snapshot) -> list[Step]:
    """The writes of a pass to the binding."""
    return [each for each in steps(seen) if isinstance(each, SetUsers)]


def test_a_binding_is_claimed_beside_everybody_who_claims_it_sorted() -> None:
    assert claims(attached()) == [SetUsers("share", "7", (BEFORE, US, AFTER))]


@pytest.mark.parametrize("domain", Domain)
def test_a_binding_that_can_be_read_is_claimed_usable_or_not(domain: Domain) -> None:
    cache = Attachment(domain, ECHO, used_by=(), version="7")
    assert claims(attached(cache)) == [SetUsers("share", "7", (US,))]


def test_a_binding_that_is_claimed_is_not_written_again_not_even_to_sort_it() -> None:
    claimed = replace(READ, used_by=(AFTER, US, BEFORE))
    assert decision(attached(claimed)).next == Done()


def test_the_claim_of_a_deployment_of_the_same_name_in_another_kind_is_not_ours() -> None:
    assert claims(attached(replace(READ, used_by=(User("Instance", "", "chat"),)))) == [
        SetUsers("share", "7", (User("Instance", "", "chat"), US))
    ]


def test_a_binding_that_is_missing_cannot_be_claimed() -> None:
    assert decision(attached(Attachment(Domain.NOT_FOUND))).next == Done()


def test_a_deployment_without_a_cache_claims_nothing() -> None:
    assert decision(settled()).next == Done()


def test_the_claim_follows_the_finalizer_and_stands_before_any_replica() -> None:
    of = deployment(kv_cache="share", finalizers=())
    seen = replace(snapshot(of, [], [], [], cache=READ), answers=Answers({"server": frozenset()}, names()))
    order = [type(each) for each in steps(seen)]
    assert order[:3] == [AddFinalizer, SetUsers, CreateReplica]


def test_a_deployment_that_cannot_be_rendered_claims_too() -> None:
    assert claims(attached(rendering=refusal())) == [SetUsers("share", "7", (BEFORE, US, AFTER))]


def going(cache: Attachment | None, **fields: object) -> Snapshot:
    """A deployment that is being deleted and has no Pod left."""
    of = deployment(kv_cache="share", deleted=True)
    seen = replace(snapshot(of, [], [], [], cache=cache), answers=Answers(pods_left=0))
    return replace(seen, **fields)  # type: ignore[arg-type]


CLAIMED = replace(READ, used_by=(AFTER, BEFORE, US))


def test_the_claim_is_given_back_before_the_finalizer_goes_and_others_keep_theirs() -> None:
    assert steps(going(CLAIMED)) == (SetUsers("share", "7", (BEFORE, AFTER)), DropFinalizer())


@pytest.mark.parametrize(
    "cache",
    [replace(CLAIMED, connected=False), replace(CLAIMED, domain=Domain.NOT_READY, echo=None, unreadable="odd")],
    ids=["pool-gone", "binding-unreadable"],
)
def test_the_claim_is_given_back_whatever_became_of_the_pool(cache: Attachment) -> None:
    assert claims(going(cache)) == [SetUsers("share", "7", (BEFORE, AFTER))]


def test_the_claim_is_given_back_where_nothing_can_be_rendered_any_more() -> None:
    assert claims(going(CLAIMED, rendering=refusal())) == [SetUsers("share", "7", (BEFORE, AFTER))]


@pytest.mark.parametrize("cache", [None, Attachment(Domain.NOT_FOUND), READ], ids=["no-cache", "missing", "unclaimed"])
def test_where_there_is_nothing_to_give_back_the_finalizer_goes_alone(cache: Attachment | None) -> None:
    assert steps(going(cache)) == (DropFinalizer(),)


def test_the_claim_stays_while_a_pod_is_left() -> None:
    seen = replace(going(CLAIMED), members=(pod(leaving=True),))
    assert not hasattr(decision(seen).next, "steps")
    known_elsewhere = replace(going(CLAIMED), answers=Answers(pods_left=1))
    assert not hasattr(decision(known_elsewhere).next, "steps")
