"""Hand-built histories for tests of the demo: a settled world, and an editor that commits changes one by one."""

from modeldeployment.lab.demo.history import (
    Change,
    ConditionSeen,
    DeploymentSeen,
    PodSeen,
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
) -> PodSeen:
    """Return a Ready Pod called after its UID."""
    uid = uid or f"p{ordinal}"
    return PodSeen(uid, name or f"chat-server-{uid}", ordinal, "server", image, node, ready, leaving)


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
