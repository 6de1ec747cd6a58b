"""Defaults of a ModelDeployment: the accelerator count of a role, which hangs on its InstanceType.

Every other default is the schema's. Source: facts admission §3.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from modeldeployment.admission.defaulting.outcome import Defaulted
from modeldeployment.admission.facts import Facts
from modeldeployment.admission.patching import Operation, found, put
from modeldeployment.admission.verdict import Cause, Refusal


def defaults(body: Mapping[str, Any], facts: Facts) -> Defaulted:
    """Ask for one accelerator in each role of an acceleratable type that says nothing of them.

    An explicit count, 0 included, is kept. A type that the API server does not have refuses the role that needs it;
    one that nobody looked up, a deleting object and a value of another shape than expected default nothing.
    """
    if found(body, "metadata.deletionTimestamp") is not None:
        return Defaulted()
    operations: list[Operation] = []
    refusals: list[Refusal] = []
    for index, role, name in _typed_roles(body):
        resources = role.get("resources")
        if resources is not None and (not isinstance(resources, Mapping) or resources.get("accelerator") is not None):
            continue
        if name not in facts.instance_types:
            continue
        instance_type = facts.instance_types.get(name)
        path = f"spec.roles[{index}]"
        if instance_type is None:
            refusals.append(_no_such_type(path, name))
        elif instance_type.acceleratable and resources is None:
            operations.append(put(f"{path}.resources", {"accelerator": 1}))
        elif instance_type.acceleratable:
            operations.append(put(f"{path}.resources.accelerator", 1))
    return Defaulted(tuple(operations), tuple(refusals))


def missing_types(body: Mapping[str, Any], facts: Facts) -> Iterator[Refusal]:
    """Refuse every role whose InstanceType the API server does not have; `body` may have any shape."""
    for index, _, name in _typed_roles(body):
        if name in facts.instance_types and facts.instance_types.get(name) is None:
            yield _no_such_type(f"spec.roles[{index}]", name)


def _typed_roles(body: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any], str]]:
    """Each role that names an InstanceType, with its index and that name."""
    spec = body.get("spec")
    roles = spec.get("roles") if isinstance(spec, Mapping) else None
    for index, role in enumerate(roles if isinstance(roles, list) else ()):
        if isinstance(role, Mapping) and isinstance(name := role.get("instanceType"), str) and name:
            yield index, role, name


def _no_such_type(path: str, name: str) -> Refusal:
    return Refusal(
        "MD049",
        f"{path}.instanceType",
        name,
        why=f'there is no InstanceType "{name}", so what the role may ask for is not known',
        way_out="name one that `kubectl get instancetypes` lists, or create this one first",
        cause=Cause.NOT_FOUND,
    )
