"""Every rule the schemas hold in CEL, in one table: code, kind, field, why and way out.

Codes below MD200 are those of the admission rules that say the same; MD2.. are held by the schema alone, so they are
all that is checked of kinds that no webhook of ours judges.
"""

from typing import Final

from modeldeployment.api import artifact, frozen, instancetype, kvbackend, kvpool, scaler
from modeldeployment.api.cel import Rule

GUARDS: Final[tuple[Rule, ...]] = (
    # ModelDeployment
    frozen.MODEL,
    frozen.ENGINE_NAME,
    frozen.KV_CACHE,
    frozen.ROLE_SET,
    frozen.KIND,
    frozen.SIZE,
    frozen.INSTANCE_TYPE,
    *frozen.ROLE,
    *frozen.RESOURCES,
    frozen.ROUTER_NAME,
    frozen.WHOLE_ACCELERATOR,
    frozen.WHOLE_INTERFACE,
    frozen.NOT_HOSTNAME,
    frozen.POOL_NAMED,
    # ModelDeploymentScaler
    scaler.TARGET_FIXED,
    scaler.BOUNDS_ORDERED,
    scaler.TWO_ROLES,
    # InstanceType
    *instancetype.FIXED,
    *instancetype.FIXED_UNITS,
    instancetype.GROUP_NAMED,
    # KVCacheBackend
    kvbackend.ONE_CONNECTION,
    kvbackend.MEDIUM_FIXED,
    # KVCachePool
    kvpool.ONE_BACKEND,
    kvpool.BACKENDS_FIXED,
    kvpool.TOTAL_POSITIVE,
    # KVCachePoolBinding
    kvpool.POOL_FIXED,
    kvpool.DOMAIN_FIXED,
    kvpool.CEILING_POSITIVE,
    kvpool.DTYPE_NAMED,
    # ModelArtifact
    artifact.SPEC_FIXED,
    artifact.ONE_SOURCE,
    *artifact.HUB_ONLY,
)
"""Every rule, by kind and in field order."""


def of(kind: str) -> tuple[Rule, ...]:
    """Return the rules of one kind, in field order."""
    return tuple(rule for rule in GUARDS if rule.kind == kind)
