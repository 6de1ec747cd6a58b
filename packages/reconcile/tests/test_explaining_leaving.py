"""What people are told of a retirement and of those that wait behind it, from a snapshot."""

from datetime import timedelta

from modeldeployment.api import RetirementState
from modeldeployment.reconcile import Snapshot
from modeldeployment.reconcile.explaining import chains, leaving
from modeldeployment.reconcile.explaining.leaving import Leaving
from modeldeployment.reconcile.explaining.links import Why
from modeldeployment.reconcile.explaining.picture import Picture
from modeldeployment.reconcile.retiring.intents import Held
from reconcile_worlds import deployment, pod, rendering, snapshot
from retiring_worlds import after, intent, leaver, reserved


def shrinking(there: int, declared: int, state: str = "Draining") -> Snapshot:
    """A deployment that declares fewer replicas than are there; the highest ordinal is on its way out."""
    whole = rendering(deployment(replicas=there))
    members = tuple(pod(whole, role="server", ordinal=ordinal) for ordinal in range(there))
    mine = reserved(state, ordinal=there - 1, members=frozenset({members[-1].uid}))
    return snapshot(deployment(replicas=declared), members, status={"retirement": mine.body()})


def of(seen: Snapshot) -> Leaving:
    """What leaves of it."""
    return chains.explain(Picture(seen)).leaving


def test_a_shrink_of_a_thousand_takes_the_sum_of_what_each_takes() -> None:
    leaves = of(shrinking(1024, 1))
    assert (leaves.waiting, len(leaves.held)) == (1022, 1022)
    assert leaves.expected == (after(1023 * 14), after(1023 * 300))


def test_those_that_wait_say_for_whom() -> None:
    explained = chains.explain(Picture(shrinking(4, 1)))
    assert [(each.name, each.links[0].why) for each in explained.retiring] == [
        ("server/3", Why.RETIRING),
        ("server/2", Why.RETIREMENT_HELD),
        ("server/1", Why.RETIREMENT_HELD),
    ]
    assert explained.retiring[2].links[0].said == "waits for server/3 to leave: one replica at a time"


def test_the_handoff_window_of_those_behind_it_is_added() -> None:
    window = timedelta(seconds=45)
    mine, behind = intent(window=window), intent(leaver("a"), ordinal=0, window=window)
    leaves = Leaving(reserved("Draining"), (mine, behind), ((behind, Held.OTHER_UNDER_WAY),))
    assert leaves.expected == (after(2 * (14 + 45)), after(600))


def test_one_that_is_held_by_itself_is_not_expected_to_go() -> None:
    behind = intent(leaver("a"), ordinal=0)
    leaves = Leaving(reserved("Draining"), (intent(), behind), ((behind, Held.LAST_OF_KIND),))
    assert leaves.waiting == 1
    assert leaves.expected == (after(14), after(300))


def test_nothing_is_expected_where_nothing_goes_on_by_itself() -> None:
    assert Leaving().expected is None
    assert Leaving(reserved("Aborted"), (intent(),)).expected is None


def test_the_state_ends_with_its_budget_or_with_the_whole() -> None:
    assert Leaving(reserved("Draining", phase_started=after(7))).until == after(247)
    assert Leaving(reserved("Draining", phase_started=after(100))).until == after(300)
    assert Leaving(reserved("Deleting")).until is None


def test_one_that_was_given_up_and_is_declared_again_is_not_told_to_leave() -> None:
    assert chains.explain(Picture(shrinking(2, 2, "Aborted"))).retiring == ()


def test_a_retirement_that_nobody_can_read_is_none() -> None:
    assert leaving.operation({"retirement": {"roleName": "server"}}) is None
    assert leaving.operation({}) is None
    kept = leaving.operation({"retirement": reserved("Aborted").body()})
    assert kept is not None
    assert kept.state is RetirementState.ABORTED
