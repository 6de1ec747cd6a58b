"""What must hold after every write of every run, whatever went wrong before it.

Each promise is one function over an `Entry` of the server's story and the `Scene` it happened in; its docstring is the
sentence of the table in docs/reliability.md. Source: spec 1 §Rollout behavior and §Replica departures, facts reconcile
§4 to §6, §8, §9 and §11, facts atomic-admission §4.
"""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from modeldeployment.api import keys, kueue
from modeldeployment.lab.crashes.scenes import Scene, finalizers, owner
from modeldeployment.lab.model import Entry
from modeldeployment.lab.model.resources import JSON

_DECIDED: Final = ("Deleting", "Settling")

Promise: TypeAlias = Callable[[Scene, Entry], Iterator[str]]


def one_live_pod_a_seat(scene: Scene, entry: Entry) -> Iterator[str]:
    """A Pod is created only on a seat that no live Pod holds."""
    if pod := scene.created_pod(entry):
        yield from (
            f"{each.name} holds {pod.seat}"
            for each in scene.pods(pod.owner)
            if each.live and each.seat == pod.seat and each.uid != pod.uid
        )


def nothing_beside_a_listed_member(scene: Scene, entry: Entry) -> Iterator[str]:
    """A replica is created only once the API server lists no Pod of its group, leaving ones and others' included."""
    if pod := scene.created_pod(entry):
        made = scene.created_in_pass
        yield from (
            f"{each.name} is still listed in the group of {pod.seat}"
            for each in scene.grouped(pod.group)
            if each.uid not in {*made, pod.uid}
        )


def only_what_is_declared(scene: Scene, entry: Entry) -> Iterator[str]:
    """What is created is declared: its role, its ordinal below the replicas, its member below the size."""
    if pod := scene.created_pod(entry):
        role = scene.role(pod)
        if role is None or pod.ordinal >= role.replicas or pod.index >= role.size:
            yield f"{pod.seat} is not declared"
        elif scene.deleting(pod.owner):
            yield f"{pod.seat} is created although the deployment is being deleted"


def finalizer_first(scene: Scene, entry: Entry) -> Iterator[str]:
    """Nothing is created before the deployment carries the finalizer."""
    if scene.ours(entry) and entry.verb == "create" and (uid := owner(entry.thing)):
        held = scene.deployment(uid)
        if held is not None and keys.FINALIZER not in finalizers(held):
            yield f"{entry.plural} {entry.name} comes before the finalizer"


def finalizer_last(scene: Scene, entry: Entry) -> Iterator[str]:
    """The finalizer stays until no Pod of the deployment is left."""
    if entry.plural == "modeldeployments" and entry.old is not None and keys.FINALIZER in finalizers(entry.old):
        left = [each.name for each in scene.pods(entry.thing["metadata"]["uid"])]
        if left and (entry.new is None or keys.FINALIZER not in finalizers(entry.new)):
            yield f"{entry.name} is let go while {', '.join(left)} stand"


def finalizers_of_others_stay(scene: Scene, entry: Entry) -> Iterator[str]:
    """Finalizers of others are left as they are."""
    if scene.ours(entry) and entry.plural == "modeldeployments" and entry.old is not None:
        left = set(finalizers(entry.thing if entry.new is None else entry.new))
        yield from (f"{each} is taken off {entry.name}" for each in {*finalizers(entry.old)} - left - {keys.FINALIZER})


def owned_and_labelled(scene: Scene, entry: Entry) -> Iterator[str]:
    """Everything created is controlled by the deployment, named by UID, and says in labels whose it is."""
    if not scene.ours(entry) or entry.verb != "create" or entry.plural not in scene.OWNED:
        return
    metadata = entry.thing["metadata"]
    labels = metadata.get("labels") or {}
    held = scene.deployment(owner(entry.thing))
    if held is None:
        yield f"{entry.plural} {entry.name} is controlled by no deployment there is"
    elif labels.get(keys.NAME) != keys.NAME_VALUE or labels.get(keys.INSTANCE) != held["metadata"]["name"]:
        yield f"{entry.plural} {entry.name} does not say whose it is"
    elif entry.plural == "pods" and not (labels.get(keys.ORDINAL, "").isdigit() and labels.get(keys.GROUP_NAME)):
        yield f"Pod {entry.name} does not say which seat it holds"


def nobody_elses_objects(scene: Scene, entry: Entry) -> Iterator[str]:
    """What is deleted or changed belongs to the deployment whose pass it is, by UID."""
    if not scene.ours(entry) or entry.verb == "create":
        return
    if entry.plural == "modeldeployments" and entry.thing["metadata"]["uid"] not in scene.known_uids():
        yield f"{entry.verb} of a deployment {entry.name} that the pass did not see"
    if entry.plural not in scene.OWNED:
        return
    if owner(entry.old or entry.thing) not in scene.known_uids():
        yield f"{entry.verb} of {entry.plural} {entry.name}, which is somebody else's"


def nobody_leaves_unproven(scene: Scene, entry: Entry) -> Iterator[str]:
    """A whole replica that is not declared any more is deleted only once status says that its delete is decided."""
    pod = scene.deleted_pod(entry)
    role = scene.role(pod) if pod else None
    if pod and role is not None and pod.ordinal >= role.replicas and scene.whole(pod) and not scene.deleting(pod.owner):
        held = ((scene.deployment(pod.owner) or {}).get("status") or {}).get("retirement") or {}
        if held.get("state") not in _DECIDED or pod.uid not in held.get("targetMemberUIDs", ()):
            yield f"{pod.seat} is deleted while status says {held.get('state', 'nothing')}"


def one_retirement_at_a_time(scene: Scene, entry: Entry) -> Iterator[str]:
    """A retirement that is under way is never replaced by another."""
    if not scene.ours(entry) or entry.plural != "modeldeployments" or not entry.old or not entry.new:
        return
    before, after = (each.get("status", {}).get("retirement") or {} for each in (entry.old, entry.new))
    under_way = before and before["state"] != "Aborted"
    if under_way and after and before["targetMemberUIDs"] != after["targetMemberUIDs"]:
        yield f"{before['roleName']}/{before['replicaOrdinal']} is {before['state']} and gives way to another"


def highest_ordinal_first(scene: Scene, entry: Entry) -> Iterator[str]:
    """A scale-down lets the highest ordinal go first."""
    pod = scene.deleted_pod(entry)
    role = scene.role(pod) if pod else None
    if pod and role is not None and pod.ordinal >= role.replicas and scene.whole(pod):
        yield from (
            f"{pod.seat} leaves before {each.seat}"
            for each in scene.pods(pod.owner)
            if each.live and each.role == pod.role and each.ordinal > pod.ordinal
        )


def one_replica_a_turn(scene: Scene, entry: Entry) -> Iterator[str]:
    """In one pass at most one declared replica of a role leaves."""
    if (pod := scene.turned(entry)) and (others := scene.left_in_pass(pod) - {pod.ordinal}):
        yield f"{pod.seat} leaves in the same pass as {', '.join(f'{pod.role}/{each}' for each in sorted(others))}"


def the_guard(scene: Scene, entry: Entry) -> Iterator[str]:
    """A whole replica is turned over only while every declared replica of its role is admitted."""
    if (pod := scene.turned(entry)) and scene.whole(pod):
        role = scene.role(pod)
        admitted = scene.admitted(pod)
        if role is not None and admitted != role.replicas:
            yield f"{pod.seat} leaves while {admitted} of {role.replicas} are admitted"


def turns_are_waited_out(scene: Scene, entry: Entry) -> Iterator[str]:
    """A whole replica is turned over only once those that came since the last edit are ready."""
    if (pod := scene.turned(entry)) and scene.whole(pod):
        yield from (
            f"{pod.seat} leaves while {each.seat} is new and not ready"
            for each in scene.seen(pod)
            if each.ordinal != pod.ordinal and not each.ready and scene.since_edit(each)
        )


def replicas_leave_whole(scene: Scene, _: Entry) -> Iterator[str]:
    """The members of a replica leave in one pass."""
    yield from scene.parted
    scene.parted.clear()


def no_live_member_is_stopped(scene: Scene, entry: Entry) -> Iterator[str]:
    """A Workload is deleted only once it owns no live Pod."""
    if scene.ours(entry) and entry.plural == "workloads" and entry.verb == "delete":
        uids = {each["uid"] for each in entry.thing["metadata"].get("ownerReferences") or ()}
        yield from (f"{entry.name} still owns {each.seat}" for each in scene.pods() if each.live and each.uid in uids)


def times_move_with_a_flip(scene: Scene, entry: Entry) -> Iterator[str]:
    """A condition's time moves only when its status does, and status is never ahead of its spec."""
    if not scene.ours(entry) or entry.plural != "modeldeployments" or entry.new is None:
        return
    before = {each["type"]: each for each in (entry.old or {}).get("status", {}).get("conditions") or ()}
    for each in entry.new.get("status", {}).get("conditions") or ():
        was = before.get(each["type"])
        if not was:
            continue
        flips, moves = was["status"] != each["status"], was["lastTransitionTime"] != each["lastTransitionTime"]
        # Two flips within one second carry one time.
        if flips != moves and not (flips and was["lastTransitionTime"] == scene.stamp):
            yield f"{each['type']}: {was['status']} to {each['status']}, and its time {'moves' if moves else 'stays'}"
        if each.get("observedGeneration", 0) > entry.new["metadata"]["generation"]:
            yield f"{each['type']} is about a generation that does not stand"


def sets_open_together(scene: Scene, entry: Entry) -> Iterator[str]:
    """A Workload of a set is answered Ready only while every replica of the set holds quota or is being replaced."""
    if (
        scene.ours(entry)
        and entry.plural == "workloads"
        and entry.new
        and _opened(entry.new)
        and not _opened(entry.old)
    ):
        pod = scene.member_of(entry.new)
        if pod is not None and scene.several(pod):
            yield from (f"{pod.seat} opens while {missing} has no quota" for missing in scene.unreserved(pod))


def checks_only_wait_or_open(scene: Scene, entry: Entry) -> Iterator[str]:
    """A check of ours says Pending or Ready and nothing else; an admitted Workload is never deactivated."""
    if not scene.ours(entry) or entry.plural != "workloads" or not entry.old or not entry.new:
        return
    for each in entry.new.get("status", {}).get("admissionChecks") or ():
        if each["state"] not in (kueue.CheckState.PENDING, kueue.CheckState.READY) and each not in (
            entry.old.get("status", {}).get("admissionChecks") or ()
        ):
            yield f"{entry.name} is told {each['state']}"
    stopped = entry.old["spec"].get("active", True) and not entry.new["spec"].get("active", True)
    if stopped and scene.seen_admitted(entry.name):
        yield f"{entry.name} is deactivated although it is admitted"


def judge(scene: Scene, entry: Entry) -> list[str]:
    """Every promise that an entry breaks, by name; the scene then remembers it."""
    scene.begin()
    broken = [f"{promise.__name__}: {why}" for promise in PROMISES for why in promise(scene, entry)]
    scene.note(entry)
    return broken


PROMISES: Final[tuple[Promise, ...]] = (
    one_live_pod_a_seat,
    nothing_beside_a_listed_member,
    only_what_is_declared,
    finalizer_first,
    finalizer_last,
    finalizers_of_others_stay,
    owned_and_labelled,
    nobody_elses_objects,
    nobody_leaves_unproven,
    one_retirement_at_a_time,
    highest_ordinal_first,
    one_replica_a_turn,
    the_guard,
    turns_are_waited_out,
    replicas_leave_whole,
    no_live_member_is_stopped,
    times_move_with_a_flip,
    sets_open_together,
    checks_only_wait_or_open,
)


def _opened(workload: JSON | None) -> bool:
    checks = (workload or {}).get("status", {}).get("admissionChecks") or ()
    return any(each["name"] == kueue.JOINT_CHECK and each["state"] == kueue.CheckState.READY for each in checks)
