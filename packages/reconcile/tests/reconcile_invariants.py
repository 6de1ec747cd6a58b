"""What must hold of every pass, whatever came before it.

Source: spec 1 §Rollout behavior, facts reconcile §4 to §6 and §9.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import cast

from modeldeployment.api import keys
from modeldeployment.reconcile import Member, Snapshot, Step
from modeldeployment.reconcile.deciding import marking, qualifying
from modeldeployment.reconcile.deciding.qualifying import Verdict
from modeldeployment.reconcile.deciding.slots import RoleSlots
from modeldeployment.reconcile.deciding.steps import (
    AddFinalizer,
    CreateReplica,
    DeletePod,
    DeleteWorkload,
    DropFinalizer,
)
from modeldeployment.render import Rendering, RoleRendering, Seat


def check_steps(
    seen: Snapshot, on_server: Iterable[Member], steps: tuple[Step, ...], retired: frozenset[str] = frozenset()
) -> None:
    """Raise AssertionError where the steps of a pass break a promise.

    `on_server` are all Pods, seen or not, `retired` the UIDs of those that status says are being deleted.
    """
    on_server = list(on_server)
    if isinstance(seen.rendering, Rendering):
        seen = replace(seen, members=marking.of(seen.members, seen.rendering).members)
    by_uid = {member.uid: member for member in seen.members}
    deleted = [by_uid[step.uid] for step in steps if isinstance(step, DeletePod)]
    assert not [each.name for each in deleted if each.leaving], "deletes a Pod that is leaving already"
    assert len({each.uid for each in deleted}) == len(deleted), "deletes a Pod twice"
    _check_workloads(seen, steps)
    if seen.deployment.metadata.deletion_timestamp is not None:
        assert not any(isinstance(step, CreateReplica) for step in steps), "creates while being deleted"
        assert not (on_server and DropFinalizer() in steps), "lets go of Pods that are still there"
        return
    assert keys.FINALIZER in seen.deployment.metadata.finalizers or steps[0] == AddFinalizer(), "acts unfinalized"
    assert isinstance(seen.rendering, Rendering)
    for role in seen.rendering.roles:
        created = [step.ordinal for step in steps if isinstance(step, CreateReplica) and step.role == role.name]
        going = [member for member in deleted if member.role == role.name]
        live = [member for member in seen.members if member.role == role.name and not member.leaving]
        assert not (created and going), f"role {role.name} gets deletes and creates in one pass"
        _check_creates(role, created, live, on_server)
        others = [member for member in going if member.uid not in retired]
        if others:
            _check_deletes(role, others, [member for member in live if member.uid not in retired], seen)


def _check_workloads(seen: Snapshot, steps: tuple[Step, ...]) -> None:
    workloads = {each.uid: each for each in seen.workloads}
    live = {member.uid for member in seen.members if not member.leaving}
    for step in steps:
        if isinstance(step, DeletePod):
            live.discard(step.uid)
        elif isinstance(step, DeleteWorkload):
            assert not workloads[step.uid].owners & live, f"Workload {step.name} goes from under a live Pod"


def _check_creates(role: RoleRendering, created: list[int], live: list[Member], on_server: Iterable[Member]) -> None:
    taken = {member.group for member in on_server}
    assert created == sorted(set(created)), "creates lowest first and each ordinal once"
    for ordinal in created:
        assert ordinal < role.replicas, f"{role.name}/{ordinal} is not declared"
        assert ordinal not in {member.ordinal for member in live}, f"{role.name}/{ordinal} is occupied"
        assert role.template.group(ordinal) not in taken, f"{role.name}/{ordinal} is created beside a listed member"


def _check_deletes(role: RoleRendering, going: list[Member], live: list[Member], seen: Snapshot) -> None:
    uids = {member.uid for member in going}
    beyond = [member for member in live if _ordinal(member) >= role.replicas]
    staying = {(each.ordinal, each.index) for each in live if each.ordinal is not None and each.uid not in uids}
    orphans = [each for each in going if each.ordinal is None]
    trimmed = [each for each in going if _ordinal(each) >= role.replicas]
    kept = [each for each in going if each.ordinal is not None and each.ordinal < role.replicas]
    doubles = [each for each in kept if (each.ordinal, each.index) in staying]
    turned = sorted({_ordinal(each) for each in kept if each not in doubles})
    surplus = len(live) - len(beyond) - role.replicas * role.size
    for ordinal in {_ordinal(each) for each in trimmed}:
        mine = [each for each in beyond if each.ordinal == ordinal]
        over = {each.uid for each in mine if each.over}
        assert over or broken(role, mine), f"{role.name}/{ordinal} leaves without the protocol"
        assert {each.uid for each in mine} & uids in (over, {each.uid for each in mine}), "only a part leaves"
    ordinals = [_ordinal(each) for each in trimmed]
    assert ordinals == sorted(ordinals, reverse=True), "lowest first"
    assert len(orphans) <= max(1, surplus), "sheds more than the surplus"
    missing = set(range(role.replicas)) - {_ordinal(each) for each in live}
    wanted = {role.template.group(ordinal) for ordinal in missing}
    assert all(each.over or each.group in wanted for each in doubles), "sheds a double without the protocol"
    if any(each.group in wanted for each in kept):
        return
    assert len(turned) + bool(orphans) <= 1, "more than one replica turns over"
    assert not (trimmed and turned), "turns a replica over while it scales down"
    for ordinal in turned:
        _check_turned(role, ordinal, [each for each in live if each.ordinal == ordinal], uids, seen)


def _check_turned(role: RoleRendering, ordinal: int, members: list[Member], going: set[str], seen: Snapshot) -> None:
    assert {each.uid for each in members} <= going, f"only a part of {role.name}/{ordinal} leaves"
    if broken(role, members) or misplaced(role, ordinal, members, seen):
        return
    assert outdated(role, ordinal, members), f"{role.name}/{ordinal} is a healthy survivor"
    mine = [each for each in seen.members if each.role == role.name and not each.leaving]
    live = {each.uid: each.ordinal for each in mine if _ordinal(each) < role.replicas}
    admitted = [each for each in seen.workloads if each.admitted and each.owners & set(live)]
    assert len(admitted) == role.replicas, "rolls although not every declared replica is admitted"
    assert set(range(role.replicas)) <= set(live.values()), "rolls while the count is short"


def broken(role: RoleRendering, members: list[Member]) -> bool:
    """Whether a replica can never be admitted or serve again."""
    return {each.index for each in members} != set(range(role.size)) or any(each.over for each in members)


def misplaced(role: RoleRendering, ordinal: int, members: list[Member], seen: Snapshot) -> bool:
    """Whether a replica that is not admitted has a Pod in another group than its own."""
    uids = {each.uid for each in members}
    admitted = any(each.admitted and each.owners & uids for each in seen.workloads)
    return not admitted and any(each.group != role.template.group(ordinal) for each in members)


def outdated(role: RoleRendering, ordinal: int, members: list[Member]) -> bool:
    """Whether a complete replica differs from its render."""
    return any(each.fingerprint != role.template.fingerprint(Seat(ordinal, each.index)) for each in members)


def check_status(before: Mapping[str, object], after: Mapping[str, object], now: str) -> None:
    """Raise AssertionError where a condition's time moved without a flip, or stood still with one."""
    old, new = _conditions(before), _conditions(after)
    for kind, condition in new.items():
        same = kind in old and old[kind]["status"] == condition["status"]
        assert condition["lastTransitionTime"] == (old[kind]["lastTransitionTime"] if same else now), kind


def _conditions(status: Mapping[str, object]) -> dict[object, Mapping[str, object]]:
    return {each["type"]: each for each in cast("list[Mapping[str, object]]", status.get("conditions") or [])}


def _ordinal(member: Member) -> int:
    return -1 if member.ordinal is None else member.ordinal


def check_eligible(roles: Iterable[RoleSlots], retiring: Collection[str]) -> None:
    """What is counted of a role is what its legs say, replica by replica (facts status §6)."""
    for role in roles:
        if role.role is None:
            continue
        judged = [
            (slot, {verdict for _, verdict in qualifying.legs(role, slot, (), retiring)})
            for slot in {**{slot.ordinal: slot for slot in role.kept()}, **role.slots}.values()
        ]
        stay = [(slot, verdicts) for slot, verdicts in judged if Verdict.FAILED not in verdicts]
        able = [[each.eligible and qualifying.answers(role, each) for each in slot.live] for slot, _ in stay]
        known = all(Verdict.UNKNOWN not in verdicts for _, verdicts in stay)
        assert qualifying.eligible(role, (), retiring) == (sum(map(any, able)) if known else None)
