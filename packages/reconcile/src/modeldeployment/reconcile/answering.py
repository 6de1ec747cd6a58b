"""Answers the rare reads that a pass asks for, from the API server and never from a store."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, assert_never

from modeldeployment.api import keys
from modeldeployment.kube import Client, Grant, Kind, NotFound, shapes
from modeldeployment.kube.kinds import PODS
from modeldeployment.reconcile import observing
from modeldeployment.reconcile.deciding.seen import Answers, Lost, Names, OwnedKind
from modeldeployment.reconcile.deciding.steps import Ask, Fact
from modeldeployment.reconcile.kinds import OWNED
from modeldeployment.reconcile.watching import Key

GRANTS: Final = tuple(Grant(kind, ("get",), "tell who holds the name of a missing object") for kind in OWNED.values())
"""What is watched anyway may be listed too."""

READ_AT_ONCE: Final = 8
"""So many objects of one kind are read by name; for more, all of the namespace are listed."""

NAMED_AT_ONCE: Final = 64
"""So many groups are asked for by name; for more, every Pod of the namespace that is in any group is looked at."""


async def answer(client: Client, key: Key, uid: str, answers: Answers, ask: Ask) -> Answers:
    """The answers so far with the asked fact added. Raises KubeError."""
    match ask.fact:
        case Fact.ROLE_GROUPS:
            return await _claimed(client, key, uid, answers, ask)
        case Fact.NAMES:
            names = {kind: await _names(client, key, uid, kind, wanted) for kind, wanted in ask.names.items()}
            return replace(answers, names={**answers.names, **names})
        case Fact.PODS_LEFT:
            # Of a Pod's labels, Kueue lets nobody take away the group; those that it is watched by may be gone.
            listed = (await client.list_metadata(PODS, key.namespace, labels=keys.GROUP_NAME)).items
            left = [pod.metadata for pod in listed if _owned(pod.metadata, uid)]
            return replace(answers, pods_left=len(left), lost=_lost(left))
        case other:
            assert_never(other)


async def _names(client: Client, key: Key, uid: str, kind: OwnedKind, wanted: Sequence[str]) -> Names:
    """Who holds the wanted names: few are read one by one, since a namespace may hold thousands of other objects."""
    if len(wanted) <= READ_AT_ONCE:
        # Where one fails the others are let be: a read leaves nothing behind.
        read = await asyncio.gather(*(_holder(client, key, OWNED[kind].partial(), name) for name in wanted))
        found = [each for each in read if each is not None]
    else:
        listed = [each.metadata for each in (await client.list_metadata(OWNED[kind], key.namespace)).items]
        found = [each for each in listed if each.name in set(wanted)]
    ours = {each.name: each.uid for each in found if _owned(each, uid)}
    return Names(frozenset(each.name for each in found) - set(ours), ours)


async def _holder(client: Client, key: Key, kind: Kind[shapes.Partial], name: str) -> shapes.ObjectMeta | None:
    try:
        return (await client.get(kind, name, key.namespace)).metadata
    except NotFound:
        return None


async def _claimed(client: Client, key: Key, uid: str, answers: Answers, ask: Ask) -> Answers:
    """Who is in the wanted groups: Kueue counts Pods by their group, whatever else labels them, whoever owns them."""
    role_of = {group: role for role, groups in ask.groups.items() for group in groups}
    few = len(role_of) <= NAMED_AT_ONCE
    selector = f"{keys.GROUP_NAME} in ({','.join(sorted(role_of))})" if few else keys.GROUP_NAME
    found = [
        pod.metadata
        for pod in (await client.list_metadata(PODS, key.namespace, labels=selector)).items
        if pod.metadata.labels.get(keys.GROUP_NAME) in role_of
    ]
    groups: dict[str, set[str]] = {role: set() for role in ask.roles}
    for pod in found:
        groups[role_of[pod.labels[keys.GROUP_NAME]]].add(pod.labels[keys.GROUP_NAME])
    # One that is leaving is waited for like our own: of a deployment of this name that went, it may be the last.
    strangers = {
        pod.labels[keys.GROUP_NAME]: pod.name
        for pod in found
        if not _owned(pod, uid) and pod.deletion_timestamp is None
    }
    return replace(
        answers,
        groups={**answers.groups, **{role: frozenset(each) for role, each in groups.items()}},
        strangers={**answers.strangers, **strangers},
        lost=(*answers.lost, *_lost(pod for pod in found if _owned(pod, uid))),
    )


def _lost(owned: Iterable[shapes.ObjectMeta]) -> tuple[Lost, ...]:
    """The Pods that no store shows. One that is leaving is among them: only who is seen has its Workload released."""
    return tuple(
        Lost(pod.name, pod.uid, pod.labels.get(keys.GROUP_NAME, ""), leaving=pod.deletion_timestamp is not None)
        for pod in owned
        if pod.labels.get(keys.NAME) != keys.NAME_VALUE
    )


def _owned(meta: shapes.ObjectMeta, uid: str) -> bool:
    return uid in observing.controllers(meta.owner_references)
