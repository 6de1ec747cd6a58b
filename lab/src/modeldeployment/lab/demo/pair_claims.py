"""What is claimed of a pair behind a router: pure functions of a step's window, as `claims` are."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from modeldeployment.api import ConditionType, names
from modeldeployment.lab.demo import claims
from modeldeployment.lab.demo.claims import Verdict
from modeldeployment.lab.demo.history import DeploymentSeen, PodSeen, RouterSeen, Seen, Window, World

ROUTER_KINDS: Final = ("ServiceAccount", "Role", "RoleBinding", "ConfigMap", "Service", "Deployment")
"""Of each of these kinds a router has one object."""

ROUTER: Final = "router"
"""Whose fate is told beside those of roles."""

_POD: Final = "Pod"
_SUBJECT: Final = re.compile(r"(?:role )?(?P<who>\S+): (?P<fate>.+)")
_COUNT: Final = re.compile(r"(?P<pods>\d+) Pods? (?P<verb>replaced|created|deleted)")
_NOTHING: Final = "nothing"


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of the Pods of a role, or of the router: how many of them are replaced, come and go."""

    who: str
    replaced: int = 0
    created: int = 0
    deleted: int = 0

    def __str__(self) -> str:
        counts = {"replaced": self.replaced, "created": self.created, "deleted": self.deleted}
        return f"{self.who} {', '.join(f'{pods} {verb}' for verb, pods in counts.items() if pods) or _NOTHING}"


def all_ready(window: Window, roles: Mapping[str, int]) -> Verdict:
    """Every ordinal of every role has exactly one Pod, Ready, and the status says so."""
    spoken = " and ".join(f"{replicas} of {replicas} replicas of {role}" for role, replicas in roles.items())
    return Verdict(f"{spoken} are Ready", tuple(_unready(window.after, roles)))


def _unready(world: World, roles: Mapping[str, int]) -> Iterator[str]:
    wanted = sorted((role, ordinal) for role, replicas in roles.items() for ordinal in range(replicas))
    found = [pod.seat for pod in world.pods]
    if found != wanted:
        yield f"the Pods sit at {_seats(found) or 'no seat'}"
    yield from (f"Pod {pod.name} is not Ready" for pod in world.pods if not pod.serving)
    deployment = world.deployment
    if deployment is None:
        yield "the deployment is not there"
    elif (deployment.phase, deployment.ready) != ("Ready", len(wanted)):
        yield f"its status says {deployment.phase or 'nothing'}, {deployment.ready} ready"


def router_objects(window: Window, deployment: str) -> Verdict:
    """The router has one object of each of its kinds, all of its name, and no other."""
    name = names.router(deployment)
    claim = f"the router's {len(ROUTER_KINDS)} objects are there, each called {name}: {', '.join(ROUTER_KINDS)}"
    wanted = sorted((kind, name) for kind in ROUTER_KINDS)
    found = sorted((each.kind, each.name) for each in window.after.of(RouterSeen) if each.kind != _POD)
    if found == wanted:
        return Verdict(claim)
    return Verdict(claim, (f"there are {', '.join('/'.join(each) for each in found) or 'none'}",))


def router_ready(window: Window) -> Verdict:
    """The router has one Pod, Ready, and its `Deployment` and the deployment's status say so."""
    claim = f"the router is Ready: its Pod, its Deployment and condition {ConditionType.ROUTER_READY}"
    return Verdict(claim, tuple(_router_unready(window.after)))


def _router_unready(world: World) -> Iterator[str]:
    found = world.of(RouterSeen)
    if (pods := sum(each.kind == _POD for each in found)) != 1:
        yield f"it has {pods} Pods"
    yield from (f"its {each.kind} {each.name} is not Ready" for each in found if not each.ready)
    if world.deployment is None:
        yield "the deployment is not there"
    elif (condition := world.deployment.condition(ConditionType.ROUTER_READY)).status != "True":
        yield f"{condition.type} is {condition.status} ({condition.reason}): {condition.message}"


def summary(window: Window, text: str) -> Verdict:
    """`status.roleSummary` is this text."""
    found = window.after.deployment.summary if window.after.deployment else ""
    return Verdict(f"status.roleSummary says {text}", () if found == text else (f"it says {found or 'nothing'}",))


def endpoint(window: Window, url: str) -> Verdict:
    """`status.endpoint` is that of the router."""
    found = window.after.deployment.endpoint if window.after.deployment else ""
    against = () if found == url else (f"it is {found or 'not there'}",)
    return Verdict(f"status.endpoint leads through the router: {url}", against)


def proxied(window: Window, role: str, proxy: str) -> Verdict:
    """The Pods of one role run the proxy beside their engine, and no other Pod does."""
    against = tuple(
        f"Pod {pod.name} runs {', '.join(pod.sidecars) or 'nothing'} beside its engine"
        for pod in window.after.pods
        if (proxy in pod.sidecars) != (pod.role == role)
    )
    return Verdict(f"each Pod of {role} runs {proxy} beside its engine, and no other Pod does", against)


def foretold(window: Window, fates: Iterable[Fate]) -> Verdict:
    """What was told is this fate of every role and the router, in this order, and no other."""
    wanted, found = list(fates), list(_foretold(window.told))
    against = () if found == wanted else (f"it foretells {_listed(found) or 'nothing that can be read'}",)
    return Verdict(f"it foretells what becomes of Pods: {_listed(wanted)}", against)


def _foretold(lines: Iterable[str]) -> Iterator[Fate]:
    for line in lines:
        subject = _SUBJECT.fullmatch(line)
        if subject is None or not line.startswith(("role ", "router: ")):
            continue
        counts = {each["verb"]: int(each["pods"]) for each in _COUNT.finditer(subject["fate"])}
        if counts or subject["fate"] == _NOTHING:
            yield Fate(subject["who"], **counts)


def nothing_touched(window: Window) -> Verdict:
    """None of what a deployment owns was different at any moment."""
    before = _owned(window.before)
    touched = {
        each.name
        for world in window.worlds()
        for each in {**before, **_owned(world)}.values()
        if world.objects.get(each.uid) != before.get(each.uid)
    }
    return Verdict("asking touched nothing", tuple(f"{name} changed, came or went" for name in sorted(touched)))


def _owned(world: World) -> dict[str, Seen]:
    return {uid: each for uid, each in world.objects.items() if not isinstance(each, DeploymentSeen)}


def as_foretold(window: Window, fates: Iterable[Fate]) -> Verdict:
    """Of every role and the router so many Pods were replaced, came and went, by UID, each at most once."""
    wanted = list(fates)
    claim = f"exactly that became of Pods, by their UIDs: {_listed(wanted)}"
    befell = [_befell(window, fate.who) for fate in wanted]
    against = [f"in fact {fate}" for fate, foreseen in zip(befell, wanted, strict=True) if fate != foreseen]
    lasting = window.before.objects.keys() | window.after.objects.keys()
    against += [
        f"Pod {arrival.seen.name} came and went" for arrival in window.came(PodSeen) if arrival.seen.uid not in lasting
    ]
    return Verdict(claim, tuple(against))


def _befell(window: Window, who: str) -> Fate:
    before, after = (_sitting(world, who) for world in (window.before, window.after))
    both = before.keys() & after.keys()
    replaced = sum(before[seat] != after[seat] for seat in both)
    return Fate(who, replaced, len(after.keys() - both), len(before.keys() - both))


def _sitting(world: World, who: str) -> dict[object, str]:
    """UIDs: of a role's Pods by seat, of the router's by their names, which are never used again."""
    if who == ROUTER:
        return {each.name: each.uid for each in world.of(RouterSeen) if each.kind == _POD}
    return {pod.seat: pod.uid for pod in world.pods if pod.role == who}


def one_by_one(window: Window) -> Verdict:
    """At no moment was more than one of the replicas that a role began with without a serving Pod."""
    began: dict[str, set[tuple[str, int]]] = {}
    for pod in window.before.pods:
        began.setdefault(pod.role, set()).add(pod.seat)
    serving = [{pod.seat for pod in world.pods if pod.serving} for world in window.worlds()]
    least = {role: min(len(seats & each) for each in serving) for role, seats in began.items()}
    against = tuple(
        f"at one moment only {least[role]} served of {role}" for role in began if least[role] < len(began[role]) - 1
    )
    return Verdict("at no moment was more than one replica of a role missing", against)


def role_kept(window: Window, role: str) -> Verdict:
    """The replicas that the role began with keep their Pods as they are, and serve at every moment."""
    before = [pod for pod in window.before.pods if pod.role == role]
    against = [
        f"Pod {pod.name} changed or went"
        for pod in before
        if not pod.serving or any(world.objects.get(pod.uid) != pod for world in window.worlds())
    ]
    if not before:
        against.append("it had no Pod to begin with")
    return Verdict(f"{role}'s {len(before)} replicas kept their UIDs and served throughout", tuple(against))


def router_kept(window: Window) -> Verdict:
    """Every object of the router stays as it is, its Pod Ready, at every moment, and none comes."""
    claim = "the router's Pod and all of its objects kept their UIDs and stayed Ready throughout"
    before = {each.uid: each for each in window.before.of(RouterSeen)}
    touched = {
        f"{each.kind} {each.name}"
        for world in window.worlds()
        for each in {**before, **{there.uid: there for there in world.of(RouterSeen)}}.values()
        if world.objects.get(each.uid) != before.get(each.uid) or not each.ready
    }
    return Verdict(claim, tuple(f"{each} changed, came or went" for each in sorted(touched)))


def nothing_left(window: Window) -> Verdict:
    """Nothing is left of the deployment, nor of its router."""
    claim = "nothing is left: no Pod, no Workload, no Service, none of the router's objects, no deployment"
    return replace(claims.nothing_left(window), claim=claim)


def _listed(fates: Iterable[Fate]) -> str:
    return "; ".join(map(str, fates))


def _seats(seats: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{role}/{ordinal}" for role, ordinal in seats)
