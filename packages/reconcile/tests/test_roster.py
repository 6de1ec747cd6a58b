"""Members and Workloads of a pass are found by UID, members in the order in which they were read."""

from modeldeployment.reconcile.deciding.roster import Roster
from reconcile_worlds import pod, workload

FIRST, SECOND, GONE = pod(ordinal=0), pod(ordinal=1), pod(ordinal=2, leaving=True)
ALL = Roster((FIRST, SECOND, GONE))


def test_members_are_found_in_the_order_in_which_they_were_read() -> None:
    assert ALL.among([GONE.uid, "uid-of-nobody", FIRST.uid]) == (FIRST, GONE)
    assert ALL.among([]) == ()


def test_who_stays_is_there_and_not_leaving() -> None:
    assert ALL.stays({SECOND.uid, GONE.uid})
    assert not ALL.stays({GONE.uid, "uid-of-nobody"})
    assert not ALL.stays([])


def test_who_leaves_is_told_by_uid() -> None:
    assert ALL.leaving == {GONE.uid}


def test_a_workload_is_found_by_its_uid_and_by_the_member_that_leaves_it() -> None:
    serving, left = workload(FIRST, name="serving", uid="wl-0"), workload(SECOND, GONE, name="left", uid="wl-1")
    found = Roster(ALL.members, (serving, left))
    assert found.workload("wl-0") is serving
    assert found.workload("wl-of-nobody") is None
    assert found.left == (left,)


def test_those_of_whom_an_event_may_tell_leave_were_evicted_or_restarted() -> None:
    evicted, restarted = pod(ordinal=3, evicted=True), pod(ordinal=4, restarts=1)
    assert Roster((FIRST, GONE, evicted, restarted)).noted == (GONE, evicted, restarted)
