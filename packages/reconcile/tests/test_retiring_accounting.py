"""What a stored transition of a retirement counts, and what is told of all of them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.api import RetirementState
from modeldeployment.reconcile.retiring import accounting
from modeldeployment.reconcile.retiring.accounting import NOTHING, Counted, Outcome, Phase, Read, Tally, counted
from modeldeployment.reconcile.retiring.reservation import Reservation
from retiring_worlds import IMPOSSIBLE, NOW, WAITING, advance, after, evidence, reserved, scene

DECLARED = replace(scene(), intents=())


def test_an_operation_that_begins_counts_as_begun() -> None:
    assert counted(None, reserved("Admitted"), NOW) == Counted(began=True)


def test_what_stays_in_its_state_counts_nothing_whatever_it_says() -> None:
    assert counted(reserved("Draining"), reserved("Draining", reason="still busy"), NOW) == NOTHING


def test_taking_the_label_off_ends_no_phase() -> None:
    assert counted(reserved("Admitted"), reserved("Disqualified"), after(2)) == NOTHING
    assert counted(reserved("Disqualified"), reserved("Withdrawing", phase_started=after(5)), after(5)) == NOTHING


def test_withdrawal_lasts_from_admission_to_the_drain() -> None:
    before, then = reserved("Withdrawing", phase_started=after(6)), reserved("Draining", phase_started=after(7))
    assert counted(before, then, after(9)) == Counted(phase=(Phase.WITHDRAWAL, 7))


@pytest.mark.parametrize(("read", "word"), [(0, Read.IDLE), (3, Read.BUSY), (None, Read.UNREAD)])
def test_a_delete_counts_what_was_read_last(read: int | None, word: Read) -> None:
    before, then = reserved("Draining", phase_started=after(7)), reserved("Deleting", phase_started=after(19))
    counts = counted(before, then, after(19), in_flight=read)
    assert counts == Counted(phase=(Phase.DRAIN, 12), deletes=word, in_flight=read or 0)


def test_an_operation_that_is_cleared_after_it_settled_is_completed() -> None:
    before = reserved("Settling", phase_started=after(20))
    assert counted(before, None, after(24)) == Counted(outcome=Outcome.COMPLETED, seconds=24, phase=(Phase.SETTLE, 4))


def test_the_next_operation_in_the_place_of_a_settled_one_completes_it() -> None:
    counts = counted(reserved("Settling"), reserved("Admitted", ordinal=0, members=frozenset("a")), after(4))
    assert (counts.began, counts.outcome) == (True, Outcome.COMPLETED)


@pytest.mark.parametrize("state", ["Admitted", "Disqualified", "Withdrawing", "Draining"])
@pytest.mark.parametrize(
    ("word", "seen", "seconds"),
    [
        ("Budget", scene(), 300),
        ("Budget", scene(evidence=evidence(withdrawal=WAITING)), 300),
        ("Unwanted", DECLARED, 3),
        ("LastOfKind", scene(last=True), 3),
        ("NotRendered", scene(rendered=False), 3),
        ("Terminated", replace(scene(), target=()), 3),
    ],
)
def test_every_abort_counts_its_state_and_its_cause(state: str, word: str, seen: object, seconds: int) -> None:
    stored = reserved(state)
    turn = advance(stored, seen, after(seconds))  # type: ignore[arg-type]
    counts = counted(stored, turn.reservation, after(seconds))
    assert counts.abort == (state, word)
    assert counts.outcome is (Outcome.TERMINATED if word == "Terminated" else Outcome.ABORTED)
    assert counts.seconds == seconds
    assert counts.phase == (Phase.DRAIN if state == "Draining" else Phase.WITHDRAWAL, seconds)


def test_an_abort_because_nothing_can_be_proven_counts_as_such() -> None:
    stored = reserved("Disqualified")
    turn = advance(stored, scene(evidence=evidence(withdrawal=IMPOSSIBLE)), after(3))
    assert counted(stored, turn.reservation, after(3)).abort == ("Disqualified", "Impossible")


def test_an_abort_that_another_release_put_in_words_has_an_unknown_cause() -> None:
    assert accounting.cause(reserved("Draining"), reserved("Aborted", reason="because")) == "Unknown"


def test_a_retry_begins_anew_and_is_counted_as_one() -> None:
    before, then = reserved("Aborted"), reserved("Admitted", started=after(60), token="again")
    assert counted(before, then, after(60)) == Counted(began=True, retried=True)


def test_a_new_spec_begins_anew_and_is_no_retry() -> None:
    before, then = reserved("Aborted", token="t"), reserved("Admitted", started=after(60), generation=3, token="t")
    assert counted(before, then, after(60)) == Counted(began=True)


def test_what_is_cleared_while_its_pods_stand_is_adopted() -> None:
    assert counted(reserved("Aborted"), None, NOW, standing=frozenset("ab")) == Counted(outcome=Outcome.ADOPTED)


def test_what_is_cleared_after_its_pods_went_is_not_adopted() -> None:
    assert counted(reserved("Aborted"), None, NOW, standing=frozenset("a")) == NOTHING


def test_a_whole_operation_is_told_once() -> None:
    tally = Tally()
    tally.seen("team/chat", None, NOW)
    steps = [
        ("Admitted", 0),
        ("Disqualified", 0),
        ("Withdrawing", 6),
        ("Draining", 7),
        ("Deleting", 9),
        ("Settling", 30),
    ]
    for name, at in steps:
        stored = reserved(name, phase_started=after(at))
        for _ in range(3):
            tally.seen("team/chat", stored, after(at), in_flight=0 if name == "Draining" else None)
    assert tally.states()[RetirementState.SETTLING] == 1
    tally.seen("team/chat", None, after(31))
    assert (tally.began, tally.retries, tally.outcomes) == (1, 0, {Outcome.COMPLETED: 1})
    assert (tally.deletes, tally.in_flight) == ({Read.IDLE: 1}, 0)
    assert {phase: (sum(each.buckets), each.seconds) for phase, each in tally.phases.items()} == {
        Phase.WITHDRAWAL: (1, 7),
        Phase.DRAIN: (1, 2),
        Phase.DELETE: (1, 21),
        Phase.SETTLE: (1, 1),
    }
    assert tally.durations[Outcome.COMPLETED].seconds == 31
    assert not any(tally.states().values())


def test_requests_that_were_there_when_the_replica_was_deleted_are_told() -> None:
    tally = Tally()
    tally.seen("team/chat", reserved("Draining"), NOW, in_flight=2)
    tally.seen("team/chat", reserved("Draining"), NOW)
    tally.seen("team/chat", reserved("Deleting"), NOW)
    assert (tally.deletes, tally.in_flight) == ({Read.BUSY: 1}, 2)


def test_what_another_process_did_before_counts_nothing() -> None:
    tally = Tally()
    tally.seen("team/chat", reserved("Draining"), NOW)
    assert (tally.began, tally.states()[RetirementState.DRAINING]) == (0, 1)
    tally.rest()
    tally.seen("team/chat", None, NOW)
    assert (tally.outcomes, sum(tally.states().values())) == ({}, 0)


def test_a_deployment_that_is_gone_has_no_operation() -> None:
    tally = Tally()
    tally.seen("team/chat", reserved("Aborted"), NOW)
    tally.forget("team/chat")
    assert not any(tally.states().values())


STATES = st.sampled_from([state.value for state in RetirementState if state is not RetirementState.COMPLETED])
STORED = st.none() | st.builds(
    lambda state, seconds, token: reserved(state, started=after(seconds), phase_started=after(seconds), token=token),
    STATES,
    st.integers(0, 3),
    st.sampled_from(["", "t"]),
)


@given(st.lists(STORED, max_size=12))
def test_whatever_status_says_one_deployment_has_one_operation_and_no_duration_is_negative(
    said: list[Reservation | None],
) -> None:
    tally = Tally()
    for number, stored in enumerate(said):
        tally.seen("team/chat", stored, after(number), standing=("b",))
        assert sum(tally.states().values()) == (stored is not None)
    assert all(each.seconds >= 0 for each in (*tally.phases.values(), *tally.durations.values()))
    assert sum(tally.aborts.values()) == tally.outcomes[Outcome.ABORTED] + tally.outcomes[Outcome.TERMINATED]
