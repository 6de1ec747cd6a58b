"""Fields that identify a deployment, which no update changes.

Each is compared as the unit of facts api-modeldeployment §4; roles are matched by name, so their order is no edit.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from modeldeployment.admission.examples import Example
from modeldeployment.admission.patching import Operation, found, put, remove
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import DeploymentReview, RoleReview
from modeldeployment.admission.verdict import Refusal
from modeldeployment.api import Document, Quantity, Resources, RoleKind, frozen
from modeldeployment.api.cel import Rule

_RESOURCES, _COMMAND = frozen.ROLE
_ONE: Final = Quantity.whole(1).nanos
_DROPPED: Final = (
    "; a merge patch replaces the whole list of roles, so what it leaves out is lost: use a JSON patch, or send the "
    "whole object"
)
_LEFT_OUT: Final[Mapping[str, tuple[Any, ...]]] = {
    "kind": (None, RoleKind.SERVER.value),
    "size": (None, 1),
    "resources": (None, {}, {"accelerator": 1}),
    "command": (None, []),
}
"""What stands in a field of a role that the request left out, once defaults are filled in."""


@row(
    trigger=Example({"spec.model.name": "Qwen/Qwen2.5-7B-Instruct"}, old={}),
    near_miss=Example({"spec.engine.version": "0.31.0", "spec.roles[0].replicas": 5}, old={}),
)
def identity_changed(review: DeploymentReview) -> Iterator[Refusal]:
    """MD033 | spec | What identifies a deployment is fixed when it is created.

    Fixed are `model`, `engine.name`, `kvCache`, the set of roles by name, and each role's `kind`, `size`,
    `instanceType`, `resources` and `command`. A different value describes a different deployment, which is created
    rather than edited. Leaving a value out that reads as its default is no change, nor is another order of the roles.

    A merge patch replaces the whole list of roles: a role restated without its `command` gives the command up, and is
    refused for that. Way out: change one field with a JSON patch, or send the whole object; to scale, change
    `replicas`. Source: spec 1 §Deployment identity fields, decisions D3 and D45.
    """
    if review.old is None:
        return
    new, old = review.new.spec, review.old.spec
    if new.model != old.model:
        yield _restored(review, "spec.model", frozen.MODEL, _stored(old.model))
    if new.engine.name != old.engine.name:
        yield _restored(review, "spec.engine.name", frozen.ENGINE_NAME, old.engine.name.value)
    if new.kv_cache != old.kv_cache:
        yield _restored(review, "spec.kvCache", frozen.KV_CACHE, old.kv_cache and _stored(old.kv_cache))
    declared = {role.name for role in new.roles}
    for role in old.roles:
        if role.name not in declared:
            yield Refusal(
                "MD033",
                "spec.roles",
                role.name,
                why=f'role "{role.name}" is gone, and the set of roles {frozen.ROLE_SET.why}',
                way_out="put the role back, or create another deployment without it",
                patch=(put("spec.roles[-]", _stored(role)),),
            )
    for each in review.roles:
        if each.old is None:
            yield Refusal(
                "MD033",
                f"{each.path}.name",
                each.role.name,
                why=f'role "{each.role.name}" is new, and the set of roles {frozen.ROLE_SET.why}',
                way_out="take the role out, or create another deployment that has it",
                patch=(remove(each.path),),
            )
        elif each.old is not each.role:  # one reading serves both where nothing changed
            yield from _role_changed(review, each)


def _role_changed(review: DeploymentReview, each: RoleReview) -> Iterator[Refusal]:
    new, old, path = each.role, each.old, each.path
    if old is None:
        return
    if new.kind is not old.kind:
        yield _restored(review, f"{path}.kind", frozen.KIND, old.kind.value)
    if new.size != old.size:
        yield _restored(review, f"{path}.size", frozen.SIZE, old.size)
    if new.instance_type != old.instance_type:
        yield _restored(review, f"{path}.instanceType", frozen.INSTANCE_TYPE, old.instance_type)
    if _asked(new.resources) != _asked(old.resources):
        yield _restored(review, f"{path}.resources", _RESOURCES, old.resources and _stored(old.resources))
    if new.command != old.command:
        yield _restored(review, f"{path}.command", _COMMAND, list(old.command) or None)


def _asked(resources: Resources | None) -> tuple[int, int, int, str, int]:
    """What is asked for in the end, whether written out or not; the schema's own rules read it alike."""
    if resources is None:
        return _ONE, 0, 0, "", 0
    return (
        _ONE if resources.accelerator is None else resources.accelerator.nanos,
        resources.accelerator_sliced_memory_percentage,
        resources.accelerator_sliced_cores_percentage,
        resources.accelerator_partitioned_profile or "",
        0 if resources.interface is None else resources.interface.nanos,
    )


def _stored(document: Document) -> dict[str, Any]:
    """What was written into the stored object, as JSON."""
    return document.model_dump(mode="json", exclude_unset=True)


def _restored(review: DeploymentReview, field: str, rule: Rule, stored: Any) -> Refusal:
    """The refusal of one field, with the patch that puts the stored value back; None where there was none."""
    value = found(review.body, field)
    patch: Operation = remove(field) if stored is None else put(field, stored)
    left_out = field.startswith("spec.roles[") and value in _LEFT_OUT.get(field.rpartition(".")[2], ())
    return Refusal(
        rule.code,
        field,
        value,
        why=rule.why,
        way_out=f"{rule.way_out}{_DROPPED if left_out else ''}",
        patch=(patch,),
    )


@row(
    trigger=Example({"spec.router": {"name": "vllm-router"}}, old={"spec.router": {"name": "llm-d-router"}}),
    near_miss=Example({"spec.router": {"name": "vllm-router"}}, old={}),
)
def router_renamed(review: DeploymentReview) -> Iterator[Refusal]:
    """MD034 | spec.router.name | One router cannot be changed into another in place.

    Another router is another set of objects. The block itself may be added and removed.

    Way out: remove `spec.router` in one update and add it with the other name in the next. Source: spec 1 §Deployment
    identity fields.
    """
    new, old = review.new.spec.router, review.old.spec.router if review.old else None
    if new is not None and old is not None and new.name is not old.name:
        yield _restored(review, "spec.router.name", frozen.ROUTER_NAME, old.name.value)


RULES: Final[tuple[Row[Any, Any], ...]] = (identity_changed, router_renamed)
