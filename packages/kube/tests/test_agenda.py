"""The pure half of the work queue."""

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from kube_worlds import UNHURRIED
from modeldeployment.kube import Agenda


def test_events_before_a_pass_coalesce() -> None:
    agenda: Agenda[str] = Agenda()
    for _ in range(5):
        agenda.add("a", 0.0)
    assert agenda.take(0.0) == ("a",)
    agenda.done("a", 0.0)
    assert agenda.take(100.0) == ()


def test_an_event_during_a_pass_leads_to_one_more() -> None:
    agenda: Agenda[str] = Agenda()
    agenda.add("a", 0.0)
    agenda.take(0.0)
    agenda.add("a", 0.1)
    agenda.add("a", 0.2)
    assert agenda.take(0.2) == ()
    agenda.done("a", 0.3)
    assert agenda.take(0.3) == ("a",)
    agenda.done("a", 0.4)
    assert agenda.take(9.0) == ()


def test_keys_come_in_the_order_in_which_they_fell_due() -> None:
    agenda: Agenda[str] = Agenda()
    agenda.wake("late", 3.0)
    agenda.add("first", 1.0)
    agenda.add("second", 2.0)
    assert [agenda.take(5.0) for _ in range(4)] == [("first",), ("second",), ("late",), ()]


def test_a_delayed_wake_waits_and_an_event_overtakes_it() -> None:
    agenda: Agenda[str] = Agenda()
    agenda.wake("a", 10.0)
    assert agenda.take(9.9) == ()
    assert agenda.next_at() == 10.0
    agenda.add("a", 5.0)
    assert agenda.take(5.0) == ("a",)
    agenda.done("a", 5.0)
    assert agenda.take(10.0) == ()


def test_a_later_wake_does_not_put_off_an_earlier_one() -> None:
    agenda: Agenda[str] = Agenda()
    agenda.wake("a", 1.0)
    agenda.wake("a", 10.0)
    assert agenda.take(1.0) == ("a",)


def test_a_busy_key_rests_in_proportion_to_its_work() -> None:
    agenda: Agenda[str] = Agenda(share=0.1, longest_rest=1.0)
    agenda.add("a", 0.0)
    agenda.take(0.0)
    agenda.done("a", 10.0, worked=0.05)
    agenda.add("a", 10.01)
    assert agenda.take(10.44) == ()
    assert agenda.take(10.46) == ("a",)


def test_no_rest_is_longer_than_the_bound() -> None:
    agenda: Agenda[str] = Agenda(share=0.1, longest_rest=1.0)
    agenda.add("a", 0.0)
    agenda.take(0.0)
    agenda.done("a", 10.0, worked=5.0)
    agenda.add("a", 10.0)
    assert agenda.take(10.9) == ()
    assert agenda.take(11.0) == ("a",)


def test_the_first_event_after_a_quiet_time_runs_at_once() -> None:
    agenda: Agenda[str] = Agenda()
    agenda.add("a", 0.0)
    agenda.take(0.0)
    agenda.done("a", 1.0, worked=0.5)
    agenda.add("a", 60.0)
    assert agenda.take(60.0) == ("a",)


def test_failures_in_a_row_double_the_pause_until_one_success() -> None:
    agenda: Agenda[str] = Agenda(seed=1)
    pauses = []
    now = 0.0
    for _ in range(4):
        agenda.retry("a", now)
        at = agenda.next_at()
        assert at is not None
        pauses.append(at - now)
        now = at
        assert agenda.take(now) == ("a",)
        agenda.done("a", now)
    assert [0.05 <= pauses[0] <= 0.1, 0.1 <= pauses[1] <= 0.2, 0.2 <= pauses[2] <= 0.4, 0.4 <= pauses[3] <= 0.8] == [
        True
    ] * 4
    agenda.forget("a")
    agenda.retry("a", now)
    assert (agenda.next_at() or 0.0) - now <= 0.1


def test_quiet_keys_leave_nothing_behind() -> None:
    agenda: Agenda[str] = Agenda()
    agenda.add("a", 0.0)
    agenda.take(0.0)
    agenda.done("a", 0.0, worked=0.1)
    assert len(agenda) == 1
    assert agenda.take(5.0) == ()
    assert len(agenda) == 0


KEYS = st.sampled_from("abc")


class AnyOrder(RuleBasedStateMachine):
    """Whatever order things come in: one pass per key at a time, and no event without a pass after it."""

    def __init__(self) -> None:
        super().__init__()
        self.agenda: Agenda[str] = Agenda(share=0.5, longest_rest=1.0)
        self.now = 0.0
        self.busy: set[str] = set()
        self.wanted: Counter[str] = Counter()

    @rule(key=KEYS)
    def add(self, key: str) -> None:
        self.agenda.add(key, self.now)
        self.wanted[key] += 1

    @rule(key=KEYS, after=st.floats(0, 3))
    def wake(self, key: str, after: float) -> None:
        self.agenda.wake(key, self.now + after)
        self.wanted[key] += 1

    @rule(seconds=st.floats(0, 2))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def take(self) -> None:
        for key in self.agenda.take(self.now):
            assert key not in self.busy
            assert self.wanted[key] > 0
            self.busy.add(key)
            self.wanted[key] = 0

    @precondition(lambda self: self.busy)
    @rule(data=st.data(), worked=st.floats(0, 0.5))
    def done(self, data: st.DataObject, worked: float) -> None:
        key = data.draw(st.sampled_from(sorted(self.busy)))
        self.busy.remove(key)
        self.agenda.done(key, self.now, worked)

    @invariant()
    def something_is_planned_while_something_is_wanted(self) -> None:
        if any(self.wanted[key] for key in "abc" if key not in self.busy):
            assert self.agenda.next_at() is not None

    def teardown(self) -> None:
        for key in list(self.busy):
            self.agenda.done(key, self.now)
        self.now += 10.0
        taken = Counter(key for _ in range(4) for key in self.agenda.take(self.now))
        assert taken == {key: 1 for key in "abc" if self.wanted[key]}
        for key in taken:
            self.agenda.done(key, self.now)
        assert len(self.agenda) == 0


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(UNHURRIED, max_examples=60, stateful_step_count=40)
