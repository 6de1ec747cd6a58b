"""The operator's Prometheus series, read from plain counters when somebody scrapes."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import accumulate

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from modeldeployment import scaler
from modeldeployment.admission.webhook.answering import BOUNDS
from modeldeployment.admission.webhook.answering import Tally as Reviews
from modeldeployment.kube import Counters
from modeldeployment.reconcile import RetirementTally, SetTally, Tally, WitnessTally
from modeldeployment.reconcile.retiring import accounting

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class OperatorCollector(Collector):
    """Series over the counters of both controllers, the stores and the leadership."""

    def __init__(
        self,
        counters: Counters,
        tally: Tally,
        sets: tuple[Counters, SetTally],
        stores: Callable[[], Mapping[str, int]],
        lists: Callable[[], Mapping[str, int]],
        leading: Callable[[], bool],
        asked: WitnessTally | None = None,
    ) -> None:
        self._counters = counters
        self._tally = tally
        self._sets = sets
        self._stores = stores
        self._lists = lists
        self._leading = leading
        self._asked = asked or WitnessTally()

    def collect(self) -> Iterator[Metric]:
        """Read everything now."""
        counters, tally = self._counters, self._tally
        yield _counter("passes", "Passes over deployments since the process started.", counters.passes)
        yield _counter("pass_failures", "Passes that ended in an error and are retried.", counters.failures)
        yield _counter("pass_work_seconds", "Seconds of work passes held the event loop.", counters.work_seconds)
        yield _counter("pass_wall_seconds", "Seconds passes took, waits included.", counters.wall_seconds)
        yield GaugeMetricFamily("modeldeployment_passes_busy", "Passes under way now.", value=counters.busy)
        yield _labelled("steps", "Steps that passes carried out, by kind.", "step", tally.steps.items())
        yield _counter("status_writes", "Status patches written.", tally.status_writes)
        yield _counter("events", "Events recorded on deployments.", tally.events)
        yield from self._set_admission()
        yield from _retirements(tally.retirements)
        yield _counter(
            "retirement_inquiries", "Inquiries into what routers and engines still serve.", self._asked.inquiries
        )
        yield _counter(
            "retirement_wakes", "Passes that were asked for since routers or engines answered.", self._asked.wakes
        )
        yield _labelled("watch_lists", "Full lists read to start or restart a watch.", "kind", self._lists().items())
        stores = GaugeMetricFamily("modeldeployment_store_objects", "Objects in the stores, by kind.", labels=["kind"])
        for kind, count in self._stores().items():
            stores.add_metric([kind], count)
        yield stores
        yield GaugeMetricFamily(
            "modeldeployment_leader", "1 while this process may write, else 0.", value=int(self._leading())
        )

    def _set_admission(self) -> Iterator[Metric]:
        counters, tally = self._sets
        yield _counter("set_passes", "Passes of set admission since the process started.", counters.passes)
        yield _counter("set_pass_failures", "Passes of set admission that ended in an error.", counters.failures)
        yield _counter(
            "set_pass_work_seconds", "Seconds of work such passes held the event loop.", counters.work_seconds
        )
        yield GaugeMetricFamily("modeldeployment_set_passes_busy", "Such passes under way now.", value=counters.busy)
        yield _labelled("set_verdicts", "Answers to our admission checks, by state.", "state", tally.verdicts.items())
        yield _counter("set_parks", "Workloads deactivated because their set did not fit in time.", tally.parks)
        yield _counter("set_yields", "Sets that gave way to an older one which waited for them.", tally.yields)
        yield _counter(
            "set_reactivations", "Workloads let back into the queue after their set gave way.", tally.reactivations
        )
        yield _counter("set_owner_reads", "Pods read to tell whose a Workload is.", tally.owner_reads)
        yield _counter("set_late_passes", "Passes that found a Workload changed since it was read.", tally.late)


def _retirements(tally: RetirementTally) -> Iterator[Metric]:
    under_way = GaugeMetricFamily(
        "modeldeployment_retirement_operations",
        "Retirements that status holds now, by state; an aborted one retains its replica.",
        labels=["state"],
    )
    for state, count in tally.states().items():
        under_way.add_metric([state.value], count)
    yield under_way
    yield _counter("retirement_begun", "Replicas chosen to leave, those that were retried included.", tally.began)
    yield _counter("retirement_retries", "Aborted retirements that were begun again on request.", tally.retries)
    yield _labelled(
        "retirement_outcomes",
        "Retirements that ended, by outcome; one that was aborted may be adopted later, which is told too.",
        "outcome",
        ((outcome.value, tally.outcomes[outcome]) for outcome in accounting.Outcome),
    )
    aborts = CounterMetricFamily(
        "modeldeployment_retirement_aborts",
        "Retirements given up before the delete, by the state they were in and why.",
        labels=["state", "cause"],
    )
    for (given_up, cause), count in tally.aborts.items():
        aborts.add_metric([given_up, cause], count)
    yield aborts
    yield _durations(
        "retirement_phase_seconds",
        "Seconds a phase of a retirement took, those that ended in an abort included.",
        ("phase", accounting.BOUNDS),
        ((phase.value, each.buckets, each.seconds) for phase, each in tally.phases.items()),
    )
    yield _durations(
        "retirement_seconds",
        "Seconds a retirement took from admission to its end, by outcome.",
        ("outcome", accounting.BOUNDS),
        ((outcome.value, each.buckets, each.seconds) for outcome, each in tally.durations.items()),
    )
    yield _labelled(
        "retirement_deletes",
        "Deletes of retirements, by what was read last: idle, busy, or unread as no request had ever reached it.",
        "read",
        ((read.value, tally.deletes[read]) for read in accounting.Read),
    )
    yield _counter(
        "retirement_requests_at_delete",
        "Requests in flight, as read last, when a replica was deleted by a retirement; stays 0.",
        tally.in_flight,
    )


class WebhookCollector(Collector):
    """Series over the webhook's tally and its certificate."""

    def __init__(self, tally: Reviews, certificate_ends: Callable[[], datetime | None]) -> None:
        self._tally = tally
        self._certificate_ends = certificate_ends

    def collect(self) -> Iterator[Metric]:
        """Read everything now."""
        tally = self._tally
        reviews = CounterMetricFamily(
            "modeldeployment_webhook_reviews",
            "Reviews answered, by kind, half and whether the object was let in.",
            labels=["kind", "half", "allowed"],
        )
        for (kind, half, allowed), count in tally.reviews.items():
            reviews.add_metric([kind, half, str(allowed).lower()], count)
        yield reviews
        yield _labelled("webhook_findings", "Refusals and warnings said, by code.", "code", tally.codes.items())
        yield _durations(
            "webhook_review_seconds",
            "Seconds a review took, reads included.",
            ("half", BOUNDS),
            ((half, counts, tally.seconds[half]) for half, counts in tally.durations.items()),
        )
        ends = self._certificate_ends()
        yield GaugeMetricFamily(
            "modeldeployment_webhook_certificate_end_seconds",
            "When the certificate in service ends, in seconds since 1970; 0 before there is one.",
            value=ends.timestamp() if ends else 0,
        )


class ScalerCollector(Collector):
    """Series over the counters of the scaler, and the counts it tells."""

    def __init__(
        self,
        counters: Counters,
        tally: scaler.Tally,
        *,
        scaled: Callable[[], Iterable[scaler.Scaled]],
        scalers: Callable[[], int],
        leading: Callable[[], bool],
    ) -> None:
        self._counters = counters
        self._tally = tally
        self._scaled = scaled
        self._scalers = scalers
        self._leading = leading

    def collect(self) -> Iterator[Metric]:
        """Read everything now."""
        counters, tally = self._counters, self._tally
        yield _counter("scaler_passes", "Passes over scalers since the process started.", counters.passes)
        yield _counter("scaler_pass_failures", "Passes that ended in an error and are retried.", counters.failures)
        yield _counter(
            "scaler_pass_work_seconds", "Seconds of work such passes held the event loop.", counters.work_seconds
        )
        yield GaugeMetricFamily("modeldeployment_scaler_passes_busy", "Such passes under way now.", value=counters.busy)
        yield _counter("scaler_plans", "Passes that read engines and planned.", tally.plans)
        late = HistogramMetricFamily(
            "modeldeployment_scaler_pass_lateness_seconds", "Seconds that passes which plan began after they were due."
        )
        ends = [*(str(bound) for bound in scaler.BOUNDS), "+Inf"]
        buckets = list(zip(ends, accumulate(tally.lateness.buckets), strict=True))
        late.add_metric([], buckets, sum_value=tally.lateness.seconds)
        yield late
        yield _labelled("scaler_commits", "Counts written to targets, by what for.", "move", tally.commits.items())
        yield _labelled(
            "scaler_commits_failed",
            "Commits that do not stand or nobody knows of, by why.",
            "why",
            tally.unwritten.items(),
        )
        yield _counter(
            "scaler_commits_adopted",
            "Commits found on targets that no status tells of, after a restart.",
            tally.adopted,
        )
        yield _labelled(
            "scaler_bindings", "Bindings that were acquired and released.", "change", tally.bindings.items()
        )
        yield _counter("scaler_status_writes", "Status of scalers written.", tally.status_writes)
        yield _counter("scaler_events", "Events recorded on scalers.", tally.events)
        yield GaugeMetricFamily("modeldeployment_scaler_objects", "Scalers in the store.", value=self._scalers())
        yield GaugeMetricFamily(
            "modeldeployment_scaler_leader", "1 while this process may scale, else 0.", value=int(self._leading())
        )
        replicas = GaugeMetricFamily(
            "modeldeployment_scaler_replicas",
            "Replicas of a scaled role as status tells them: current, ready, recommended, constrained.",
            labels=["namespace", "scaler", "role", "count"],
        )
        for namespace, name, role, which, count in self._scaled():
            replicas.add_metric([namespace, name, role, which], count)
        yield replicas


def registry(*collectors: Collector) -> CollectorRegistry:
    """A registry with our series and those of the process; nothing global."""
    made = CollectorRegistry()
    for collector in collectors:
        made.register(collector)
    ProcessCollector(registry=made)
    PlatformCollector(registry=made)
    return made


def exposition(of: CollectorRegistry) -> bytes:
    """The text Prometheus reads."""
    return generate_latest(of)


def _counter(name: str, help_text: str, value: float) -> CounterMetricFamily:
    return CounterMetricFamily(f"modeldeployment_{name}", help_text, value=value)


def _labelled(name: str, help_text: str, label: str, values: Iterable[tuple[str, int]]) -> CounterMetricFamily:
    family = CounterMetricFamily(f"modeldeployment_{name}", help_text, labels=[label])
    for value, count in values:
        family.add_metric([value], count)
    return family


def _durations(
    name: str, help_text: str, of: tuple[str, Sequence[float]], values: Iterable[tuple[str, Sequence[int], float]]
) -> HistogramMetricFamily:
    """A histogram over a label: of each value how many lie in each bucket of the bounds and above, and their sum."""
    label, bounds = of
    family = HistogramMetricFamily(f"modeldeployment_{name}", help_text, labels=[label])
    ends = [*(str(bound) for bound in bounds), "+Inf"]
    for value, counts, total in values:
        family.add_metric([value], list(zip(ends, accumulate(counts), strict=True)), sum_value=total)
    return family
