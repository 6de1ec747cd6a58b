"""Answers the rare reads that a pass asks for, from the API server and never from a store."""

from dataclasses import replace
from typing import assert_never

from modeldeployment.api import keys
from modeldeployment.kube import Client, shapes
from modeldeployment.kube.kinds import PODS
from modeldeployment.reconcile import observing
from modeldeployment.reconcile.deciding.seen import Answers, Names, OwnedKind
from modeldeployment.reconcile.deciding.steps import Ask, Fact
from modeldeployment.reconcile.kinds import OWNED
from modeldeployment.reconcile.watching import OURS, Key


async def answer(client: Client, key: Key, uid: str, answers: Answers, ask: Ask) -> Answers:
    """The answers so far with the asked fact added. Raises KubeError."""
    match ask.fact:
        case Fact.ROLE_GROUPS:
            groups = {role: await _groups(client, key, uid, role) for role in ask.roles}
            return replace(answers, groups={**answers.groups, **groups})
        case Fact.NAMES:
            names = {kind: await _names(client, key, uid, kind) for kind in ask.kinds}
            return replace(answers, names={**answers.names, **names})
        case Fact.PODS_LEFT:
            left = await _owned_pods(client, key, uid, f"{OURS},{keys.INSTANCE}={key.name}")
            return replace(answers, pods_left=len(left))
        case other:
            assert_never(other)


async def _names(client: Client, key: Key, uid: str, kind: OwnedKind) -> Names:
    listing = await client.list_metadata(OWNED[kind], key.namespace)
    ours = {each.metadata.name: each.metadata.uid for each in listing.items if _owned(each.metadata, uid)}
    return Names(frozenset(each.metadata.name for each in listing.items) - set(ours), ours)


async def _groups(client: Client, key: Key, uid: str, role: str) -> frozenset[str]:
    selector = f"{OURS},{keys.INSTANCE}={key.name},{keys.COMPONENT}={role}"
    pods = await _owned_pods(client, key, uid, selector)
    return frozenset(pod.metadata.labels.get(keys.GROUP_NAME, "") for pod in pods)


async def _owned_pods(client: Client, key: Key, uid: str, selector: str) -> list[shapes.Partial]:
    listing = await client.list_metadata(PODS, key.namespace, labels=selector)
    return [pod for pod in listing.items if _owned(pod.metadata, uid)]


def _owned(meta: shapes.ObjectMeta, uid: str) -> bool:
    return uid in observing.controllers(meta.owner_references)
