"""From a front to its router's objects. Source: facts router-rendering."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldeployment.api import names
from modeldeployment.router import objects
from modeldeployment.router.catalogue import ROUTERS
from modeldeployment.router.front import Front, MetricMissing, NotPlain, RouterRendering
from modeldeployment.router.row import Metric, RouterRow

if TYPE_CHECKING:
    from modeldeployment.api.routerstatus import RouterStatus


def render(front: Front) -> RouterRendering:
    """Render everything a router wants to exist.

    Two renders of one front are equal to the byte, and neither a replica count of a role nor the order of roles moves a
    configuration. Raises PortsDiffer where its roles are reached at several ports, NotPlain where one takes anything
    but plain HTTP, and MetricMissing where the engine does not publish a number that the router scores by.
    """
    row = ROUTERS[front.router.name]
    _refuse_missing_metrics(row, front)
    _refuse_other_speech(row, front)
    workload = row.workload(front, names.router(front.deployment))
    endpoint = objects.endpoint(front.namespace, front.deployment)
    return RouterRendering(
        objects=objects.objects(front, workload),
        endpoint=endpoint,
        contract=_contract(row, front, endpoint),
        runs=workload.runs,
    )


def _refuse_missing_metrics(row: RouterRow, front: Front) -> None:
    for metric in row.lacks(front.engine.numbers):
        raise MetricMissing(
            f'metric "{metric}" required by router "{row.name}" is unavailable on engine "{front.engine.tag}": it '
            "scores replicas by that number; remove spec.router and declare one that scores by none"
        )


def _refuse_other_speech(row: RouterRow, front: Front) -> None:
    """Refuse what a router would dial in vain (facts router-rendering §6)."""
    for role in front.roles:
        speech = f'router "{row.name}" reaches roles over plain HTTP on TCP alone, and role "{role.name}" serves'
        if role.protocol != "TCP":
            raise NotPlain(
                f"{speech} on {role.protocol} port {role.port}: put a TCP port first in spec.roles[{role.name}].ports, "
                "or remove spec.router"
            )
        if role.scheme != "http":
            raise NotPlain(
                f"{speech} HTTPS: leave --ssl-certfile and --ssl-keyfile out of spec.roles[{role.name}] and encrypt at "
                "a gateway in front of the router, or remove spec.router"
            )


def _contract(row: RouterRow, front: Front, endpoint: str) -> RouterStatus:
    """Say what the router was told; the metrics are said only of one that reads them."""
    # Models are there wherever a deployment is.
    from modeldeployment.api.routerstatus import RoutedRole, RouterMetrics, RouterStatus

    numbers = front.engine.numbers
    metrics = RouterMetrics(
        port=front.port,
        queued_requests=numbers.get(Metric.QUEUED_REQUESTS),
        running_requests=numbers.get(Metric.RUNNING_REQUESTS),
        kv_cache_utilization=numbers.get(Metric.KV_CACHE_UTILIZATION),
    )
    return RouterStatus(
        name=row.name.value,
        endpoint=endpoint,
        pool_endpoint=front.pool_endpoint or None,
        roles=tuple(
            RoutedRole(
                name=role.name,
                kind=role.kind.value,
                selector=dict(role.selector),
                endpoint=role.endpoint,
                kv_events=role.kv_events,
            )
            for role in front.roles
        ),
        metrics=metrics if row.needs_metrics else None,
    )
