"""Hand-built histories for tests of the demo: a settled world, and an editor that commits changes one by one."""

import dataclasses
from typing import Any

from modeldeployment.lab.demo.history import (
    Change,
    ConditionSeen,
    DeploymentSeen,
    PodSeen,
    RetirementSeen,
    RouterSeen,
    Seen,
    ServiceSeen,
    Window,
    WorkloadSeen,
    World,
)

CREDITS = "credits.gpustack.ai/nvidia"
FLAVOR = "a10g-8d"


def pod(
    ordinal: int,
    uid: str = "",
    *,
    name: str = "",
    ready: bool = True,
    leaving: bool = False,
    image: str = "old",
    node: str = "node-0",
    role: str = "server",
    sidecars: tuple[str, ...] = (),
) -> PodSeen:
    """Return a Ready Pod called after its UID."""
    uid = uid or f"p{ordinal}"
    return PodSeen(uid, name or f"chat-{role}-{uid}", ordinal, role, image, node, ready, leaving, sidecars)


def prefill(ordinal: int, uid: str = "", **said: Any) -> PodSeen:
    """Return a Ready Pod of the prefill role, whose UIDs begin with P."""
    return pod(ordinal, uid or f"P{ordinal}", role="prefill", **said)


def decode(ordinal: int, uid: str = "", **said: Any) -> PodSeen:
    """Return a Ready Pod of the decode role, whose UIDs begin with D, with its proxy."""
    return pod(ordinal, uid or f"D{ordinal}", role="decode", **{"sidecars": ("routing-proxy",), **said})


def router(kind: str, *, ready: bool = True, uid: str = "") -> RouterSeen:
    """Return an object of the router of `chat`."""
    return RouterSeen(uid or f"r-{kind}", kind, "chat-router", ready)


def workload(*owners: str, uid: str = "", admitted: bool = True, flavor: str = FLAVOR) -> WorkloadSeen:
    """Return an admitted Workload of these Pods."""
    uid = uid or f"w-{owners[0]}"
    flavors = {CREDITS: flavor} if admitted else {}
    return WorkloadSeen(uid, f"group-{uid}", frozenset(owners), admitted=admitted, flavors=flavors)


def deployment(replicas: int, *, ready: int = -1, phase: str = "Ready", current: bool = True) -> DeploymentSeen:
    """Return the deployment with all of its replicas ready."""
    conditions = tuple(
        ConditionSeen(each, "True", each, f"{each} holds") for each in ("ReplicasUpToDate", "QuotaReserved")
    )
    ready = replicas if ready < 0 else ready
    return DeploymentSeen("d", "chat", "server", replicas, phase, "", ready, ready, current, conditions)


def world(*seen: Seen) -> World:
    """Return the world of these objects."""
    assert len({each.uid for each in seen}) == len(seen), "UIDs are unique"
    return World({each.uid: each for each in seen})


def settled(replicas: int) -> World:
    """Return a deployment at rest: for each replica a Pod with its own Workload."""
    pods = [pod(ordinal) for ordinal in range(replicas)]
    return world(deployment(replicas), *pods, *(workload(each.uid) for each in pods), ServiceSeen("s", "chat"))


ROUTER_OBJECTS = tuple(
    map(router, ("ServiceAccount", "Role", "RoleBinding", "ConfigMap", "Service", "Deployment", "Pod"))
)


def routed(*, prefills: int = 2, decodes: int = 2, summary: str = "1R2P2D") -> World:
    """Return a pair behind a router at rest."""
    pods = [*map(prefill, range(prefills)), *map(decode, range(decodes))]
    alone = deployment(len(pods))
    paired = dataclasses.replace(
        alone,
        conditions=(*alone.conditions, ConditionSeen("RouterReady", "True", "Ready", "it is")),
        router="llm-d-router",
        summary=summary,
        endpoint="http://chat-router.team-a.svc:8081",
    )
    return world(paired, *pods, *(workload(each.uid) for each in pods), ServiceSeen("s", "chat"), *ROUTER_OBJECTS)


class Story:
    """A history written one commit after the other."""

    def __init__(self, before: World) -> None:
        self._before = before
        self._now = before
        self._changes: list[Change] = []

    def put(self, *seen: Seen) -> "Story":
        """Commit new versions, in this order."""
        for each in seen:
            self._commit(each.uid, each)
        return self

    def retiring(self, ordinal: int, *states: str) -> "Story":
        """Commit that a replica is on its way out, in these states; that none is, without any."""
        before = self._now.deployment
        assert before is not None
        for state in states:
            self.put(dataclasses.replace(before, retirement=RetirementSeen("server", ordinal, state)))
        return self if states else self.put(dataclasses.replace(before, retirement=None))

    def retired(self, ordinal: int) -> "Story":
        """Commit the right retirement of one replica, Workload included."""
        uid = f"p{ordinal}"
        self.retiring(ordinal, "Admitted", "Disqualified", "Withdrawing", "Draining", "Deleting")
        self.put(pod(ordinal, leaving=True)).gone(uid).retiring(ordinal, "Settling")
        return self.gone(f"w-{uid}").retiring(ordinal)

    def gone(self, *uids: str) -> "Story":
        """Commit that objects are gone, in this order."""
        for uid in uids:
            assert uid in self._now.objects, f"{uid} is there before it goes"
            self._commit(uid, None)
        return self

    def swapped(self, ordinal: int, old: str, new: str, *, image: str = "old") -> "Story":
        """Commit the right replacement of one replica, Workload included."""
        self.put(pod(ordinal, old, leaving=True)).gone(f"w-{old}", old)
        return self.put(pod(ordinal, new, ready=False, image=image), workload(new), pod(ordinal, new, image=image))

    @property
    def window(self) -> Window:
        """The history as a window."""
        return Window(self._before, tuple(self._changes))

    def _commit(self, uid: str, now: Seen | None) -> None:
        change = Change(100 + len(self._changes), uid, now)
        self._changes.append(change)
        self._now = self._now.after(change)
