"""What a failing test's namespace looked like, as text: objects, events, and what the components logged about it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from modeldeployment.kube import Kind
from modeldeployment.kube.kinds import PODS
from modeldeployment.kube.shapes import Condition, Event, Pod, PodStatus, Workload

_LOG_LINES: Final = 20
_LOG_TAIL_BYTES: Final = 4 * 1024 * 1024


class _Status(PodStatus, frozen=True):
    conditions: tuple[Condition, ...] = ()


class ToldPod(Pod, frozen=True):
    """A Pod and why its conditions are as they are, which no decision reads."""

    status: _Status = _Status()


TOLD_PODS: Final = Kind(PODS.group, PODS.version, PODS.plural, PODS.kind, ToldPod)


def pod_line(pod: ToldPod) -> str:
    """Return one line about a Pod: phase, node, gates that hold it, conditions that are not True."""
    parts = [f"Pod {pod.metadata.name}: {pod.status.phase or 'no phase'}"]
    parts.append(f"on {pod.spec.node_name}" if pod.spec.node_name else "on no node")
    if pod.spec.scheduling_gates:
        parts.append("gated by " + ", ".join(gate.name for gate in pod.spec.scheduling_gates))
    if pod.metadata.deletion_timestamp:
        parts.append(
            "being deleted" + (f", held by {', '.join(pod.metadata.finalizers)}" if pod.metadata.finalizers else "")
        )
    return "; ".join([*parts, *_conditions(pod.status.conditions)])


def workload_line(workload: Workload) -> str:
    """Return one line about a Workload: queue, flavors it was given, checks, conditions with their reasons."""
    parts = [f"Workload {workload.metadata.name} in {workload.spec.queue_name}"]
    if workload.spec.active is False:
        parts.append("not active")
    if workload.status.admission:
        flavors = {
            f"{name}={flavor}"
            for each in workload.status.admission.pod_set_assignments
            for name, flavor in each.flavors.items()
        }
        parts.append("given " + (", ".join(sorted(flavors)) or "nothing to charge"))
    parts += [
        f"check {check.name} {check.state} {check.message}".rstrip() for check in workload.status.admission_checks
    ]
    return "; ".join([*parts, *_conditions(workload.status.conditions)])


def event_line(event: Event) -> str:
    """Return one line about an event."""
    times = f" (x{event.series.count})" if event.series.count else ""
    about = event.regarding
    return f"{event.type} {event.reason}{times} on {about.kind} {about.name}: {event.note}"


def log_lines(log: Path, word: str, lines: int = _LOG_LINES) -> tuple[str, ...]:
    """Return the last lines of a log that mention a word; empty if the log cannot be read."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _LOG_TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return ()
    return tuple(line[:500] for line in text.splitlines() if word in line)[-lines:]


def picture(
    pods: Iterable[ToldPod],
    workloads: Iterable[Workload],
    events: Sequence[Event],
    logs: Iterable[Path],
    namespace: str,
) -> str:
    """Return everything worth reading about a namespace, one object, event or log line a line."""
    found = [pod_line(pod) for pod in pods] + [workload_line(workload) for workload in workloads]
    found = found or ["no Pods and no Workloads"]
    found += [
        event_line(event) for event in sorted(events, key=lambda event: int(event.metadata.resource_version or 0))
    ]
    for log in logs:
        lines = log_lines(log, namespace)
        found += [f"--- {log.stem}", *lines] if lines else []
    return "\n".join(found)


def _conditions(conditions: Iterable[Condition]) -> list[str]:
    return [
        f"{each.type}={each.status}"
        + (f"/{each.reason}" if each.reason else "")
        + (f" {each.message}" if each.message else "")
        for each in conditions
    ]
