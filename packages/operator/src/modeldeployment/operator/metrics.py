"""The operator's Prometheus series, read from plain counters when somebody scrapes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import accumulate

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from modeldeployment.admission.webhook.answering import BOUNDS
from modeldeployment.admission.webhook.answering import Tally as Reviews
from modeldeployment.kube import Counters
from modeldeployment.reconcile import SetTally, Tally

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
    ) -> None:
        self._counters = counters
        self._tally = tally
        self._sets = sets
        self._stores = stores
        self._lists = lists
        self._leading = leading

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
        durations = HistogramMetricFamily(
            "modeldeployment_webhook_review_seconds", "Seconds a review took, reads included.", labels=["half"]
        )
        for half, counts in tally.durations.items():
            bounds = [*(str(bound) for bound in BOUNDS), "+Inf"]
            buckets = list(zip(bounds, accumulate(counts), strict=True))
            durations.add_metric([half], buckets, sum_value=tally.seconds[half])
        yield durations
        ends = self._certificate_ends()
        yield GaugeMetricFamily(
            "modeldeployment_webhook_certificate_end_seconds",
            "When the certificate in service ends, in seconds since 1970; 0 before there is one.",
            value=ends.timestamp() if ends else 0,
        )


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
