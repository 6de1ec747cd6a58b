"""Collectors over counters of a process that has done something of everything, and what their exposition says."""

from datetime import UTC, datetime, timedelta

from modeldeployment.admission.webhook.answering import Tally as Reviews
from modeldeployment.admission.webhook.configurations import Half
from modeldeployment.admission.webhook.wire import Answer
from modeldeployment.api import RetirementState
from modeldeployment.kube import Counters
from modeldeployment.operator import metrics
from modeldeployment.reconcile import RetirementTally, SetTally, Tally
from modeldeployment.reconcile.retiring.reservation import Reservation
from modeldeployment.scaler import Scaled
from modeldeployment.scaler import Tally as ScalerTally
from prometheus_client.parser import text_string_to_metric_families

NOW = datetime(2030, 1, 1, 12, 0, 0, tzinfo=UTC)


def after(seconds: float) -> datetime:
    """So many seconds from now."""
    return NOW + timedelta(seconds=seconds)


def reservation(state: str, at: float = 0, *, reason: str = "", token: str = "", began: float = 0) -> Reservation:
    """The reservation of `server/1` in this state, which it entered so many seconds from now."""
    return Reservation(
        role="server",
        ordinal=1,
        generation=2,
        members=frozenset({"uid-1"}),
        workload="uid-w",
        state=RetirementState(state),
        reason=reason,
        started=after(began),
        deadline=after(at if state == "Aborted" else began + 300),
        phase_started=after(at),
        token=token,
    )


def retired() -> RetirementTally:
    """One replica that left, and one whose retirement was aborted, retried and is under way."""
    tally = RetirementTally()
    tally.seen("team/chat", None, NOW)
    for state, at in (("Admitted", 0), ("Disqualified", 0), ("Withdrawing", 6), ("Draining", 7)):
        tally.seen("team/chat", reservation(state, at), after(at), in_flight=0)
    for state, at in (("Deleting", 12), ("Settling", 20)):
        tally.seen("team/chat", reservation(state, at), after(at))
    tally.seen("team/chat", None, after(21))
    tally.seen("team/long", None, NOW)
    tally.seen("team/long", reservation("Draining", 7), after(7), in_flight=4)
    said = (
        "drain took all of its time: engine chat-1 has 4 requests; retained: 1 member, its Workload and their capacity"
    )
    tally.seen("team/long", reservation("Aborted", 247, reason=said), after(247))
    tally.seen("team/long", reservation("Admitted", 300, token="again", began=300), after(300))
    return tally


def everything() -> str:
    """The exposition of a process with every hat."""
    reviews = Reviews()
    reviews.add(Half.VALIDATE, "ModelDeployment", Answer(b"", False, ("MD012", "MDW03")), 0.004)
    operator = metrics.OperatorCollector(
        Counters(passes=7, failures=1, busy=2, work_seconds=0.5, wall_seconds=1.5),
        Tally(passes=7, steps={"CreateReplica": 4}, status_writes=2, events=1, retirements=retired()),
        (Counters(passes=5), SetTally(verdicts={"Ready": 6})),
        stores=lambda: {"pods": 3},
        lists=lambda: {"pods": 1},
        leading=lambda: True,
    )
    webhook = metrics.WebhookCollector(reviews, lambda: NOW)
    return metrics.exposition(metrics.registry(operator, webhook, scaling())).decode()


def scaling() -> metrics.ScalerCollector:
    """What is told of a scaler that has committed, been refused and been restarted."""
    tally = ScalerTally(
        plans=9,
        commits={"Planned": 3, "Rollback": 1},
        unwritten={"Abandoned": 2},
        bindings={"Acquired": 1},
        adopted=1,
        status_writes=5,
        events=6,
    )
    for seconds in (0.05, 0.4, 60.0):
        tally.lateness.add(seconds)
    return metrics.ScalerCollector(
        Counters(passes=12, busy=1, work_seconds=0.25),
        tally,
        scaled=lambda: (Scaled("team", "chat", "server", "current", 4), Scaled("team", "chat", "server", "ready", 3)),
        scalers=lambda: 1,
        leading=lambda: True,
    )


def samples(text: str, prefix: str) -> dict[tuple[str, ...], float]:
    """Samples whose names begin so, by the rest of the name and the values of their labels."""
    return {
        (sample.name.removeprefix(prefix), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith(prefix)
    }
