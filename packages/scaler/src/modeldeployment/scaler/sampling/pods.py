"""Takes from a Pod what is asked of its engine, and where (decisions D23)."""

from modeldeployment.api import RoleKind, scraping
from modeldeployment.api.choices import EngineName
from modeldeployment.kube import shapes
from modeldeployment.scaler.sampling.asked import Engine


def engine(pod: shapes.Pod, role: str, kind: RoleKind, name: EngineName) -> Engine:
    """Answer the engine in the answering member of a replica of this role."""
    statuses = pod.status.container_statuses
    return Engine(
        role=role,
        kind=kind,
        name=name,
        pod=pod.metadata.name,
        uid=pod.metadata.uid,
        container=" ".join(each.container_id for each in statuses),
        restarts=sum(each.restart_count for each in statuses),
        url=scraping.url(pod.metadata.annotations, pod.status.pod_ip),
    )
