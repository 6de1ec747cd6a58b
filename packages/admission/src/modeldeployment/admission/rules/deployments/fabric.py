"""Transports: fabric interfaces need a leg that uses them, and a pool one transport that every engine can read.

What follows from a transport is worked out by rendering, in its words; a refusal says those of `KVCacheBackend` and
`kvTransfer`, where Auto, and no word at all, mean TCP. Both rows are late: they read the most, and say nothing where
something else is refused already.
"""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.examples import Change, Example
from modeldeployment.admission.facts import Cache, Needs
from modeldeployment.admission.patching import found
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import DeploymentReview, RoleReview
from modeldeployment.admission.verdict import Cause, Refusal, Unready
from modeldeployment.api import InstanceType, RoleKind
from modeldeployment.render import TRANSPORTS, fabric, transfer_transport

_WORDS: Final = {spelling: word.value for word, spelling in TRANSPORTS.items()}
"""What the API calls a transport; Auto is none of its own."""


def _members(*protocols: str) -> Change:
    return {
        "spec.connection.managed.members": [
            {"medium": "DRAM", "capacityPerMember": "64Gi", "transport": {"protocol": protocol}}
            for protocol in protocols
        ]
    }


def _cache(review: DeploymentReview) -> Cache | None:
    """What the deployment's pool reference leads to; None where it has none or nobody looked."""
    cache = review.new.spec.kv_cache
    name = cache.pool_ref.name if cache else ""
    return review.facts.caches.get(name) if name and name in review.facts.caches else None


def _offers(cache: Cache) -> tuple[str, ...]:
    """The distinct transports of a store's groups of members, in order; none where the store is not to be found."""
    protocols = cache.backend.spec.protocols if cache.backend else ()
    return tuple(dict.fromkeys(TRANSPORTS[protocol] for protocol in protocols))


def _listed(offers: tuple[str, ...]) -> str:
    return ", ".join(_WORDS[offer] for offer in offers)


@row(
    trigger=Example({"spec.roles[0].resources.interface": 1}),
    near_miss=Example(
        {"spec.roles[0].resources.interface": 1}, known={"mooncake": {"spec.transport.protocol": "RDMA"}}
    ),
    needs=Needs.INSTANCE_TYPES | Needs.CACHE,
    late=True,
)
def interface_without_leg(review: DeploymentReview) -> Iterator[Refusal | Unready]:
    """MD038 | spec.roles[*].resources.interface | Fabric interfaces need one RDMA or EFA transfer leg that uses them.

    The device a Pod gets follows from the transport of the cache it is attached to, if the operator writes its command
    line, and from that of the direct transfer: the latter counts for a Prefill or Decode role of native vLLM in a pair
    behind a router. All groups of the store must agree, RDMA and EFA exclude each other, and TCP alone uses no device.

    A stored deployment is judged again only when an edit changes `kvTransfer` or `router`.

    Way out: a transport that uses the interfaces, or none of them. Source: spec 1 §A minimal deployment, facts
    api-dependencies §4.
    """
    old = review.old.spec if review.old else None
    if old and old.kv_transfer == review.new.spec.kv_transfer and old.router == review.new.spec.router:
        return
    for each in review.roles:
        wanted = each.role.resources
        if wanted is None or wanted.interface is None or wanted.interface.nanos <= 0:
            continue
        name = each.role.instance_type
        instance_type = review.instance_type(each)
        if instance_type is None:
            continue
        why = _no_leg(review, each, instance_type)
        if isinstance(why, Unready):
            yield why
        elif why:
            field = f"{each.path}.resources.interface"
            yield Refusal(
                "MD038",
                field,
                found(review.body, field),
                why=f"{why}, so there is no device to allocate on {name}",
                way_out="leave interface out, or give the cache or spec.kvTransfer.protocol the one fabric to use, "
                "RDMA or EFA"
                if review.creating
                else "keep spec.router, and in spec.kvTransfer.protocol the RDMA or EFA that uses them, or create "
                "another deployment without interface, which is fixed here",
            )


def _no_leg(review: DeploymentReview, each: RoleReview, instance_type: InstanceType) -> str | Unready | None:
    """Why no single fabric follows for this role; None where one does, or where nobody looked."""
    offers: tuple[str, ...] = ()
    if review.new.spec.kv_cache and each.role.managed and each.role.kind is not RoleKind.ENCODE:
        cache = _cache(review)
        if cache is None:
            return None
        if missing := _missing(review, cache):
            return f"{missing}, and the transport of the cache follows from it"
        offers = _offers(cache)
        if len(offers) != 1:
            return f"the groups of the cache's store use different transports, {_listed(offers)}"
    backend = each.engine.backend(instance_type.status.detail.manufacturer)
    direct = transfer_transport(review.new.spec) if _has_direct_leg(review, each) else ""
    if not instance_type.observed and direct in fabric.FABRICS:
        return Unready(
            f"{each.path}.resources.interface",
            f'InstanceType "{each.role.instance_type}" is not ready: its hardware has not been observed, so '
            f"whether the direct transfer uses {_WORDS[direct]} is not known yet; retry once it is",
        )
    counts = instance_type.observed and backend.leg_takes_device
    match fabric.used(offers, direct if counts else "", backend):
        case fabric.Rival(store, direct):
            return f"{_told(store, direct)}, and one Pod gets interfaces of one fabric"
        case fabric.Unused(store, direct):
            told = _told(store, direct) or "nothing the operator renders transfers blocks"
            return f"no RDMA or EFA transfer leg uses the interfaces: {told}"
        case _:
            return None


def _told(store: str, direct: str) -> str:
    """Which leg uses which transport."""
    legs = {"the cache": store, "the direct transfer": direct}
    return " and ".join(f"{leg} uses {_WORDS[transport]}" for leg, transport in legs.items() if transport)


def _has_direct_leg(review: DeploymentReview, each: RoleReview) -> bool:
    """Whether the role may hand blocks over a transport of `kvTransfer` that justifies a device."""
    router = review.router
    # Behind vllm-router a deployment that encodes hands its blocks over another connector (facts encode §6).
    another = RoleKind.ENCODE in review.kinds and router is not None and router.embeds
    return (
        any(backend.leg_takes_device for backend in each.engine.backends.values())
        and each.role.managed
        and each.role.kind in (RoleKind.PREFILL, RoleKind.DECODE)
        and review.pair
        and router is not None
        and not another
    )


def _missing(review: DeploymentReview, cache: Cache) -> str | None:
    """Which object on the way from the pool reference to the store is not there."""
    if cache.binding is None:
        name = review.new.spec.kv_cache.pool_ref.name if review.new.spec.kv_cache else ""
        return f'there is no KVCachePoolBinding "{name}" in this namespace'
    if cache.pool is None:
        return f'there is no KVCachePool "{cache.binding.spec.pool_ref.name}"'
    if cache.backend is None:
        named = cache.pool.spec.backends
        return f'there is no KVCacheBackend "{named[0].name}"' if named else "the KVCachePool names no backend"
    return None


def _needed(review: DeploymentReview, instance_type: InstanceType) -> str:
    """The one transport the store client of this engine on this hardware accepts; empty where it accepts any."""
    return review.engine.backend(instance_type.status.detail.manufacturer).only_transport


@row(
    trigger=Example(known={"mooncake": _members("TCP", "RDMA")}),
    near_miss=Example({"spec.roles[0].instanceType": "ascend-910b"}, known={"mooncake": _members("TCP", "CANN")}),
    needs=Needs.INSTANCE_TYPES | Needs.CACHE,
    late=True,
)
def pool_with_mixed_transports(review: DeploymentReview) -> Iterator[Refusal | Unready]:
    """MD039 | spec.kvCache.poolRef.name | A pool whose members differ in transport suits only an engine bound to one.

    An engine installs one transport, the first its store client accepts, and cannot read blocks that lie on members of
    another: lookups there miss, and nothing reports it. vLLM on Ascend accepts one transport only (CANN), so it is let
    in where a group offers that. A stored deployment keeps its binding.

    Way out: one transport for all groups of the backend, or another pool. Source: spec 1 §Admission refusals, facts
    kv-cache §1.
    """
    if review.old is not None and review.old.spec.kv_cache == review.new.spec.kv_cache:
        return
    cache = _cache(review)
    offers = _offers(cache) if cache else ()
    if len(offers) < 2:
        return
    for name in dict.fromkeys(each.role.instance_type for each in review.roles):
        instance_type = review.facts.instance_types.get(name) if name in review.facts.instance_types else None
        if instance_type is None:
            continue
        may_be_bound = any(backend.only_transport for backend in review.engine.backends.values())
        if may_be_bound and not instance_type.observed:
            yield Unready(
                "spec.kvCache.poolRef.name",
                f'InstanceType "{name}" is not ready: its hardware has not been observed, so which of the pool\'s '
                f"transports ({_listed(offers)}) the engine takes is not known yet; retry once it is",
            )
        elif not _needed(review, instance_type):
            yield Refusal(
                "MD039",
                "spec.kvCache.poolRef.name",
                found(review.body, "spec.kvCache.poolRef.name"),
                why=f"the members of this pool use different transports, {_listed(offers)}; "
                f'{review.engine.name.value} on InstanceType "{name}" installs one of them and cannot read blocks on '
                "the others",
                way_out="name a binding to another pool, or have the KVCacheBackend use one transport in all groups",
                cause=Cause.FORBIDDEN,
            )
            return


RULES: Final[tuple[Row[Any, Any], ...]] = (interface_without_leg, pool_with_mixed_transports)
