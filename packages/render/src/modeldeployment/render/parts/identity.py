"""Who a Pod is, whose it is, and which group it waits in.

Source: spec 1 §Pod group labels and annotations, facts rendering §8 and §10.
"""

from modeldeployment.api import keys, names
from modeldeployment.render.compose import Fragment, Path
from modeldeployment.render.context import Context
from modeldeployment.render.holes import Hole
from modeldeployment.render.ownership import owner_references, selector_labels
from modeldeployment.render.parts.places import ANNOTATIONS, LABELS, SPEC


def identity(context: Context) -> Fragment:
    """Give name, namespace, owner and the labels people and Services find a Pod by."""
    role, several = context.role, context.role.size > 1
    named: Fragment
    if several:
        named = {
            ("metadata", "name"): Hole.NAME,
            (*SPEC, "hostname"): Hole.NAME,
            (*SPEC, "subdomain"): Hole.SUBDOMAIN,
            (*LABELS, keys.MEMBER_INDEX): Hole.MEMBER,
        }
    else:
        named = {("metadata", "generateName"): names.generate_name(context.name, role.name)}
    labels = selector_labels(context.name, role.name) | {
        keys.PART_OF: keys.PART_OF_VALUE,
        keys.RESOURCE_TYPE: keys.RESOURCE_TYPE_VALUE,
        keys.ROLE_KIND: role.kind.label,
    }
    return {
        ("apiVersion",): "v1",
        ("kind",): "Pod",
        ("metadata", "namespace"): context.namespace,
        ("metadata", "ownerReferences"): owner_references(context.deployment),
        **_below(LABELS, labels),
        (*LABELS, keys.ORDINAL): Hole.ORDINAL,
        (*LABELS, keys.ELIGIBLE): Hole.ELIGIBLE,
        (*ANNOTATIONS, keys.NOTE_ROLE): role.name,
        **named,
    }


def group(context: Context) -> Fragment:
    """Make each replica one Kueue group in the queue of its InstanceType."""
    return {
        (*LABELS, keys.QUEUE_NAME): context.queue,
        (*LABELS, keys.GROUP_NAME): Hole.GROUP,
        (*ANNOTATIONS, keys.GROUP_TOTAL): str(context.role.size),
        (*ANNOTATIONS, keys.ROLE_HASH): context.role.name,
        (*ANNOTATIONS, keys.GROUP_SERVING): keys.TRUE,
    }


def fingerprint(context: Context) -> Fragment:  # noqa: ARG001 -- every Part has one shape
    """Carry the seat's fingerprint, by which an outdated replica is told from a current one."""
    return {(*ANNOTATIONS, keys.FINGERPRINT): Hole.FINGERPRINT}


def shape(context: Context) -> Fragment:  # noqa: ARG001 -- every Part has one shape
    """Set what holds for every Pod of ours."""
    return {
        (*SPEC, "automountServiceAccountToken"): False,
        (*SPEC, "enableServiceLinks"): False,
        (*SPEC, "restartPolicy"): "Always",
    }


def _below(path: Path, values: dict[str, str]) -> Fragment:
    return {(*path, key): value for key, value in values.items()}
