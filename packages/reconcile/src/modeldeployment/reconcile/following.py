"""Follows what a deployment names to the facts it is rendered from: its types, its cache's store, its artifact."""

from dataclasses import replace
from typing import TypeVar

from modeldeployment.api import KVCachePoolBinding, ModelArtifact, ModelDeployment, Reason
from modeldeployment.api.kvcache import KVCachePool
from modeldeployment.api.status import Delivery as Delivered
from modeldeployment.api.status import Domain as Echoed
from modeldeployment.api.status import KVCacheStatus, ModelStatus
from modeldeployment.reconcile import reading
from modeldeployment.reconcile.deciding.seen import Attachment, Claim, Weights
from modeldeployment.reconcile.errors import Unreadable
from modeldeployment.reconcile.watching import Watched
from modeldeployment.render import Delivery, Domain, Policy, Store, WeightsRefusal, connection, domain

Model = TypeVar("Model")


def cache(watched: Watched, deployment: ModelDeployment) -> tuple[Attachment | None, Store | None]:
    """The cache a deployment names and the store it leads to; both None where it names none.

    What cannot be read on the way leads nowhere, as what is missing does: a cache keeps nothing from being rendered
    (decisions D30).
    """
    named = deployment.spec.kv_cache
    if named is None:
        return None, None
    stored = watched.bindings.get(deployment.metadata.namespace or "", named.pool_ref.name)
    if stored is None:
        return Attachment(Domain.NOT_FOUND), None
    claimed = Attachment(Domain.NOT_READY, used_by=reading.users(stored), version=stored.metadata.resource_version)
    binding = watched.read_bindings.of(stored)
    if isinstance(binding, Unreadable):
        return replace(claimed, unreadable=str(binding)), None
    pool_stored = watched.pools.get("", binding.spec.pool_ref.name)
    pool = watched.read_pools.of(pool_stored) if pool_stored is not None else None
    backends = [] if pool is None or isinstance(pool, Unreadable) else [each.name for each in pool.spec.backends]
    backend_stored = watched.backends.get("", backends[0]) if backends else None
    backend = watched.read_backends.of(backend_stored) if backend_stored is not None else None
    unreadable = next((str(each) for each in (pool, backend) if isinstance(each, Unreadable)), "")
    store = connection(binding, _readable(pool), _readable(backend))
    attachment = replace(
        claimed,
        domain=domain(binding),
        echo=_echo(binding),
        connected=store is not None,
        unreadable=unreadable,
        filled=_filled(binding, _readable(pool)),
    )
    return attachment, store


def artifact(watched: Watched, deployment: ModelDeployment) -> ModelArtifact | None:
    """The artifact a deployment names; None where it names none or there is none.

    Raises WeightsRefusal where it cannot be read.
    """
    named = deployment.spec.model.artifact_ref
    stored = watched.artifacts.get(deployment.metadata.namespace or "", named.name) if named is not None else None
    if stored is None:
        return None
    read = watched.read_artifacts.of(stored)
    if isinstance(read, Unreadable):
        raise WeightsRefusal(Reason.ARTIFACT_NOT_RESOLVED, str(read), retryable=True) from read
    return read


def weights(
    watched: Watched, deployment: ModelDeployment, found: ModelArtifact | None, policy: Policy
) -> Weights | None:
    """What status says of an artifact, who delivers it, and the claim that holds it; None without one."""
    if found is None:
        return None
    source, resolved = found.spec.source, found.status.resolved
    if source.persistent_volume_claim is not None:
        delivery = Delivered.PVC
    elif source.image is not None:
        delivery = Delivered.IMAGE
    else:
        delivery = Delivered.NODE if policy.delivery is Delivery.NODE else Delivered.ENGINE
    echo = ModelStatus(
        artifact=found.metadata.name or "",
        revision=resolved.revision if resolved is not None else None,
        manifest_digest=resolved.manifest_digest if resolved is not None else None,
        delivery=delivery,
    )
    claim = _claim(watched, found, deployment)
    return Weights(delivery is not Delivered.ENGINE, echo.body(), claim, _said(found))


def _filled(binding: KVCachePoolBinding, pool: KVCachePool | None) -> bool:
    """Whether the reuse domain holds blocks, by the binding's word or by its pool's."""
    if (binding.status.blocks or 0) > 0:
        return True
    domains = pool.status.domains if pool is not None else ()
    name, meta = binding.spec.domain.name, binding.metadata
    return any(
        (each.blocks or 0) > 0
        for each in domains
        if each.name == name
        and (each.binding is None or (each.binding.namespace, each.binding.name) == (meta.namespace, meta.name))
    )


def _claim(watched: Watched, artifact: ModelArtifact, deployment: ModelDeployment) -> Claim | None:
    """The volume claim that holds the weights; None where none does."""
    source = artifact.spec.source.persistent_volume_claim
    if source is None:
        return None
    stored = watched.claims.get(deployment.metadata.namespace or "", source.claim_name)
    if stored is None:
        return Claim(source.claim_name)
    types = (
        watched.read_types.of(each)
        for role in deployment.spec.roles
        if role.replicas and (each := watched.types.get("", role.instance_type)) is not None
    )
    platforms = {f"{each.spec.os}/{each.spec.arch}" for each in types if not isinstance(each, Unreadable)}
    modes = stored.status.access_modes or stored.spec.access_modes
    return Claim(source.claim_name, stored.status.phase or "Pending", modes, tuple(sorted(platforms)))


def _said(artifact: ModelArtifact) -> Reason | None:
    """What the artifact's own controller says of its delivery in one of status' own words, whatever the condition."""
    reasons = {each.reason for each in artifact.status.conditions if each.reason}
    return next((each for each in reading.DELIVERY if each.value in reasons), None)


def _echo(binding: KVCachePoolBinding) -> dict[str, object]:
    reuse = binding.spec.domain
    return KVCacheStatus(
        binding=binding.metadata.name or "",
        pool=binding.spec.pool_ref.name,
        domain=Echoed(name=reuse.name, block_size=reuse.block_size, dtype=reuse.dtype),
    ).body()


def _readable(read: Model | Unreadable | None) -> Model | None:
    return None if isinstance(read, Unreadable) else read
