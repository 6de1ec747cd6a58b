"""CEL rules of a ModelDeployment, most of which hold its identity fixed, and the sentences they refuse with.

Transition rules run on updates only; roles are matched by name, so reordering them is no edit.
Sources: spec 1 §Deployment identity fields, facts api-modeldeployment §4, facts admission §4, decisions D3 and D45.
"""

from typing import Final

from modeldeployment.api.cel import SAME, Rule, amount, counts, same_amount, same_object, same_presence, same_value

# CEL compares a command by reading all of it, and the API server prices a rule by the longest value the schema
# allows, so a frozen list needs bounds. These stay far above any real command line.
ARGUMENTS: Final = 256
ARGUMENT: Final = 16384

ADMITTED_ROLES: Final = 10
"""Roles of a deployment: this operator's own shape limit, which admission explains (spec 1 §Admission refusals)."""

# Wider than that, or the schema would refuse without a reason; it is only what prices the rules above.
ROLES: Final = 16

_KIND: Final = "ModelDeployment"


def _identity(field: str, holds: str = SAME, at: str = "") -> Rule:
    return Rule(
        code="MD033",
        kind=_KIND,
        field=field,
        why="identifies the deployment, and a different value describes a different deployment, which is created "
        "rather than edited",
        way_out="restore the stored value, or create another deployment with this one",
        holds=holds,
        at=at,
    )


MODEL: Final = _identity("spec.model")
ENGINE_NAME: Final = _identity("spec.engine.name")
KV_CACHE: Final = _identity("spec.kvCache", same_object("kvCache"), ".kvCache")
ROLE_SET: Final = _identity(
    "the set of roles in spec.roles",
    "self.size() == oldSelf.size() && oldSelf.all(old, self.exists(new, new.name == old.name))",
)
KIND: Final = _identity("spec.roles[].kind")
INSTANCE_TYPE: Final = _identity("spec.roles[].instanceType")
ROUTER_NAME: Final = Rule(
    code="MD034",
    kind=_KIND,
    field="spec.router.name",
    why="is immutable in place: another router is another set of objects",
    way_out="remove spec.router first and add it again with the other name",
)
SIZE: Final = Rule(
    code="MD033",
    kind=_KIND,
    field="spec.roles[].size",
    why="is fixed when the deployment is created: the Pods a running replica is made of are not the Pods another size "
    "asks for",
    way_out="change replicas to scale, or create another deployment with this size",
)


def _asks_the_default(resources: str) -> str:
    # What unset resources ask for: the one accelerator admission writes, uncut, and no interface. Spelling that out,
    # or leaving it out again, is no edit, so defaulting never collides with the freeze.
    return (
        f"{amount(resources, 'accelerator', 1)}.compareTo(quantity('1')) == 0 && "
        f"{amount(resources, 'interface', 0)}.compareTo(quantity('0')) == 0 && "
        f"(!has({resources}.acceleratorSlicedMemoryPercentage) || "
        f"{resources}.acceleratorSlicedMemoryPercentage == 0) && "
        f"(!has({resources}.acceleratorSlicedCoresPercentage) || {resources}.acceleratorSlicedCoresPercentage == 0) && "
        f"(!has({resources}.acceleratorPartitionedProfile) || {resources}.acceleratorPartitionedProfile == '')"
    )


ROLE: Final = (
    _identity(
        "spec.roles[].resources",
        f"{same_presence('resources')} || "
        f"(has(self.resources) ? {_asks_the_default('self.resources')} : {_asks_the_default('oldSelf.resources')})",
        ".resources",
    ),
    _identity("spec.roles[].command", same_value("command", "[]"), ".command"),
)
RESOURCES: Final = (
    _identity("spec.roles[].resources.accelerator", same_amount("accelerator", 1), ".accelerator"),
    *(
        _identity(f"spec.roles[].resources.{name}", same_value(name, zero), f".{name}")
        for name, zero in (
            ("acceleratorSlicedMemoryPercentage", "0"),
            ("acceleratorSlicedCoresPercentage", "0"),
            ("acceleratorPartitionedProfile", "''"),
        )
    ),
    _identity("spec.roles[].resources.interface", same_amount("interface", 0), ".interface"),
)


def _whole(name: str, what: str, way_out: str) -> Rule:
    return Rule(
        code="MD016",
        kind=_KIND,
        field=f"spec.roles[].resources.{name}",
        why=f"counts {what} per Pod, so it is a whole number and not negative",
        way_out=way_out,
        holds=counts(name),
        at=f".{name}",
    )


WHOLE_ACCELERATOR: Final = _whole(
    "accelerator", "accelerators", "to use part of one, ask for 1 and set a slice percentage or a profile"
)
WHOLE_INTERFACE: Final = _whole("interface", "fabric interfaces", "leave it out for none")
NOT_HOSTNAME: Final = Rule(
    code="MD009",
    kind=_KIND,
    field="spec.roles[].topology.requiredLevel",
    why="is kubernetes.io/hostname, the lowest level of every topology, which is implicit and never required by name",
    way_out="leave requiredLevel empty, or name a level above the node",
    holds="self != 'kubernetes.io/hostname'",
)
POOL_NAMED: Final = Rule(
    code="MD011",
    kind=_KIND,
    field="spec.kvCache.poolRef.name",
    why="is empty: the KVCachePoolBinding it names is what grants this namespace a pool, and an empty reference names "
    "none",
    way_out="name a binding in this namespace, or leave spec.kvCache out",
    holds="has(self.name) && self.name != ''",
    reason="FieldValueRequired",
)
