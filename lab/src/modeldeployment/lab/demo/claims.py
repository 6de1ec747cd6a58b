"""What is claimed of each step: pure functions of its window, each with a sentence, and a reason where it fails."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from modeldeployment.api import RetirementState
from modeldeployment.lab.demo.history import (
    DeploymentSeen,
    PodSeen,
    RouterSeen,
    ServiceSeen,
    Window,
    WorkloadSeen,
    World,
)

_REASON: Final = re.compile(r"\* (?P<field>\S+): .* \((?P<code>MD\w+)\)")
"""A reason for a refusal as kubectl prints it."""
_STEPS: Final = ("Admitted", "Disqualified", "Withdrawing", "Draining", "Deleting", "Settling")
_COMMITTED: Final = (RetirementState.DELETING, RetirementState.SETTLING)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim, and what speaks against it: nothing where it holds."""

    claim: str
    against: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.against


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something wrong with a manifest: the field a refusal names, and its code."""

    field: str
    code: str


def all_told(window: Window, mistakes: Iterable[Mistake]) -> Verdict:
    """The refusal named these fields, all of them, in this order, and no other."""
    wanted = [mistake.field for mistake in mistakes]
    found = [mistake.field for mistake in _told(window)]
    claim = f"it was refused for all {len(wanted)} reasons at once, in the order of its fields"
    against = () if found == wanted else (f"the reasons name {_listed(found) or 'no field'}",)
    return Verdict(claim, against)


def codes_told(window: Window, mistakes: Iterable[Mistake]) -> Verdict:
    """Each reason ended in its code."""
    wanted = [mistake.code for mistake in mistakes]
    found = [mistake.code for mistake in _told(window)]
    against = () if found == wanted else (f"the codes are {_listed(found) or 'missing'}",)
    return Verdict(f"each reason has its code: {_listed(wanted)}", against)


def _told(window: Window) -> Iterator[Mistake]:
    for line in window.told:
        if reason := _REASON.fullmatch(line):
            yield Mistake(reason["field"], reason["code"])


def nothing_stored(window: Window) -> Verdict:
    """There was no deployment at any moment."""
    stored = {seen.name for world in window.worlds() for seen in world.of(DeploymentSeen)}
    return Verdict("nothing was stored", tuple(f"there was a deployment {name}" for name in sorted(stored)))


def all_ready(window: Window, replicas: int) -> Verdict:
    """Every ordinal below `replicas` has exactly one Pod, Ready, there is no other Pod, and the status says so."""
    return Verdict(f"{replicas} of {replicas} replicas are Ready", tuple(_unready(window.after, replicas)))


def _unready(world: World, replicas: int) -> Iterator[str]:
    ordinals = [pod.ordinal for pod in world.pods]
    if ordinals != list(range(replicas)):
        yield f"the Pods hold the ordinals {_listed(ordinals)}"
    yield from (f"Pod {pod.name} of ordinal {pod.ordinal} is not Ready" for pod in world.pods if not pod.serving)
    deployment = world.deployment
    if deployment is None:
        yield "the deployment is not there"
    elif (deployment.phase, deployment.ready) != ("Ready", replicas):
        yield f"its status says {deployment.phase or 'nothing'}, {deployment.ready} ready"


def own_workloads(window: Window, resource: str, flavor: str) -> Verdict:
    """Every Pod owns one Workload alone, admitted, and charged with `resource` of `flavor`."""
    claim = f"each replica has its own Workload, admitted with {resource} of flavor {flavor}"
    return Verdict(claim, tuple(_not_owned(window.after, resource, flavor)))


def _not_owned(world: World, resource: str, flavor: str) -> Iterator[str]:
    for pod in world.pods:
        match world.workloads_of(pod):
            case (workload,) if workload.owners != {pod.uid}:
                yield f"Workload {workload.name} is shared by {len(workload.owners)} Pods"
            case (workload,) if not workload.admitted:
                yield f"Workload {workload.name} of ordinal {pod.ordinal} is not admitted"
            case (workload,) if workload.flavors.get(resource) != flavor:
                yield f"Workload {workload.name} was assigned {dict(workload.flavors)}"
            case (_,):
                pass
            case workloads:
                yield f"Pod {pod.name} owns {len(workloads)} Workloads"
    if strays := len(world.of(WorkloadSeen)) - len(world.pods):
        yield f"there are {strays:+} Workloads compared with Pods"


def services(window: Window, names: Iterable[str]) -> Verdict:
    """Exactly these Services are there."""
    wanted, found = sorted(names), sorted(service.name for service in window.after.of(ServiceSeen))
    against = () if wanted == found else (f"there are {_listed(found)}",)
    return Verdict(f"Services {_listed(wanted)} are there", against)


def untouched(window: Window, ordinals: Iterable[int]) -> Verdict:
    """These replicas keep UID, node, image and Workload, and serve at every moment of the step."""
    kept = tuple(ordinals)
    return Verdict(f"{_replicas(kept)} kept their UIDs and served throughout", tuple(_touched(window, kept)))


def _touched(window: Window, ordinals: tuple[int, ...]) -> Iterator[str]:
    for ordinal in ordinals:
        before = [pod for pod in window.before.pods if pod.ordinal == ordinal]
        if len(before) != 1:
            yield f"ordinal {ordinal} had {len(before)} Pods to begin with"
            continue
        pod = before[0]
        if any(world.objects.get(pod.uid) != pod for world in window.worlds()):
            yield f"Pod {pod.name} of ordinal {ordinal} changed or went"
        if not pod.serving:
            yield f"Pod {pod.name} of ordinal {ordinal} did not serve to begin with"
        old, new = ({each.uid for each in world.workloads_of(pod)} for world in (window.before, window.after))
        if old != new:
            yield f"ordinal {ordinal} has another Workload"


def only_came(window: Window, ordinals: Iterable[int]) -> Verdict:
    """One Pod was created for each of these ordinals, and no other."""
    wanted = sorted(ordinals)
    came = sorted(arrival.seen.ordinal for arrival in window.came(PodSeen))
    claim = f"one Pod each was created for {_replicas(wanted)}, and no other" if wanted else "no Pod was created"
    return Verdict(claim, () if came == wanted else (f"Pods were created for {_listed(came) or 'none'}",))


def only_highest_left(window: Window, kept: int) -> Verdict:
    """Everything from ordinal `kept` up left, whole: Pods and Workloads are gone; nothing below began to leave."""
    beyond = [pod for pod in window.before.pods if pod.ordinal >= kept]
    claim = f"{_replicas([pod.ordinal for pod in reversed(beyond)])} left, the highest, Pods and Workloads both"
    against: list[str] = []
    for pod in beyond:
        if pod.uid in window.after.objects:
            against.append(f"Pod {pod.name} of ordinal {pod.ordinal} is still there")
        against += [
            f"Workload {workload.name} of ordinal {pod.ordinal} is still there"
            for workload in window.before.workloads_of(pod)
            if workload.uid in window.after.objects
        ]
    low = {pod.ordinal for world in window.worlds() for pod in world.pods if pod.leaving and pod.ordinal < kept}
    against += [f"ordinal {ordinal} was asked to leave" for ordinal in sorted(low)]
    return Verdict(claim, tuple(against))


def retired(window: Window, ordinals: Iterable[int]) -> Verdict:
    """Each of these replicas took every step of a retirement, one after the other, and left in none but the last.

    Source: facts reconcile §7.
    """
    wanted = list(ordinals)
    claim = f"{_replicas(wanted)} retired one after the other, each withdrawn and read idle before its Pod was deleted"
    return Verdict(claim, tuple(_not_retired(window, wanted)))


def _not_retired(window: Window, ordinals: list[int]) -> Iterator[str]:
    steps: list[tuple[int, str]] = []
    early: dict[str, None] = {}
    for world in window.worlds():
        now = world.deployment.retirement if world.deployment is not None else None
        if now is not None and (now.ordinal, now.state) not in steps[-1:]:
            steps.append((now.ordinal, now.state))
        committed = now.ordinal if now is not None and now.state in _COMMITTED else None
        early |= {pod.name: None for pod in world.pods if pod.leaving and pod.ordinal != committed}
    if steps != [(ordinal, step) for ordinal in ordinals for step in _STEPS]:
        yield f"the steps were {_listed(f'{ordinal} {step}' for ordinal, step in steps) or 'none'}"
    yield from (f"Pod {name} was asked to leave before anything was proven" for name in early)


def one_at_a_time(window: Window, replicas: int) -> Verdict:
    """At no moment was more than one of the declared ordinals without a serving Pod."""
    least = min(len({pod.ordinal for pod in world.pods if pod.serving}) for world in window.worlds())
    claim = f"at no moment was more than one of {replicas} replicas missing"
    return Verdict(claim, () if least >= replicas - 1 else (f"at one moment only {least} served",))


def replaced_in_order(window: Window, ordinals: Iterable[int]) -> Verdict:
    """Each of these ordinals was replaced exactly once, in this order."""
    wanted = list(ordinals)
    came = [arrival.seen.ordinal for arrival in window.came(PodSeen)]
    claim = f"each replica was replaced once, in the order {_listed(wanted)}"
    return Verdict(claim, () if came == wanted else (f"Pods came in the order {_listed(came) or 'none'}",))


def successors_waited(window: Window, new: Collection[tuple[str, int]] = ()) -> Verdict:
    """Every Pod was created only after its seat's predecessor had gone, and has another name, UID and Workload.

    Those of the seats `new`, role and ordinal, have none.
    """
    claim = "each replacement came after its predecessor had gone, with the same ordinal, another name and UID"
    return Verdict(claim, tuple(_hasty(window, new)))


def _hasty(window: Window, free: Collection[tuple[str, int]]) -> Iterator[str]:
    went = window.went()
    previous = {pod.seat: pod for pod in window.before.pods}
    for arrival in window.came(PodSeen):
        new = arrival.seen
        old = previous.get(new.seat)
        previous[new.seat] = new
        if old is None and new.seat in free:
            continue
        if old is None:
            yield f"Pod {new.name} replaces nobody: ordinal {new.ordinal} was free"
            continue
        if went.get(old.uid, arrival.revision) >= arrival.revision:
            yield f"Pod {new.name} was created before {old.name} of ordinal {new.ordinal} had gone"
        if new.name == old.name:
            yield f"the replacement of ordinal {new.ordinal} is called {new.name} again"
        inherited = {each.uid for each in window.before.workloads_of(old)} & set(window.after.objects)
        if inherited:
            yield f"ordinal {new.ordinal} still has the Workload of {old.name}"


def all_on_image(window: Window, image: str) -> Verdict:
    """Every Pod runs this image."""
    others = tuple(f"Pod {pod.name} runs {pod.image}" for pod in window.after.pods if pod.image != image)
    return Verdict(f"all replicas run {image}", others)


def nothing_left(window: Window) -> Verdict:
    """No Pod, Workload or Service is left, nor the deployment itself."""
    words: Mapping[type[object], str] = {
        DeploymentSeen: "the deployment",
        PodSeen: "Pod",
        WorkloadSeen: "Workload",
        ServiceSeen: "Service",
        RouterSeen: "of the router",
    }
    left = tuple(f"{words[type(each)]} {each.name} is left" for each in window.after.objects.values())
    return Verdict("nothing is left: no Pod, no Workload, no Service, no deployment", left)


def no_complaints(lines: Iterable[str]) -> Verdict:
    """The operator logged no error; `lines` are those it complained in."""
    return Verdict("the operator logged no error", tuple(lines))


def _listed(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))


def _replicas(ordinals: Iterable[int]) -> str:
    values = list(ordinals)
    return f"replica {values[0]}" if len(values) == 1 else f"replicas {_listed(values)}"
