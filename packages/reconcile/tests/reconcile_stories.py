"""State in, story out: decide and apply until everything is still.

Every pass is checked against the invariants, whatever the test then says about the story.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import repeat
from typing import Any, assert_never

from modeldeployment.api import ModelDeployment, keys
from modeldeployment.reconcile import (
    Advance,
    Answers,
    Ask,
    Blocked,
    Decision,
    Done,
    Fact,
    Member,
    Names,
    Snapshot,
    Step,
    decide,
)
from modeldeployment.reconcile.deciding import ground as grounds
from modeldeployment.reconcile.deciding.ground import Ground
from modeldeployment.reconcile.deciding.lasting import Lasting, lasting
from modeldeployment.reconcile.deciding.seen import MARKS, Lost
from modeldeployment.reconcile.deciding.steps import (
    AddFinalizer,
    AlignObject,
    CreateObject,
    CreateReplica,
    DeleteObject,
    DeletePod,
    DeleteWorkload,
    DropFinalizer,
    Reclaim,
    SetEligibility,
    SetUsers,
    TakeOffRetry,
)
from modeldeployment.reconcile.retiring.evidence import Evidence, Inquiry, Leg
from modeldeployment.router.withdrawal import Verdict
from reconcile_clusters import Cluster
from reconcile_invariants import check_eligible, check_status, check_steps
from reconcile_worlds import NOW, deployment, patched, possible, role_slots

_PROVEN = Leg(Verdict.PROVEN, "proven")


@dataclass(slots=True)
class Story:
    """What happened: `steps` has one line for each pass that wrote, `waits` each change of what it waited for.

    `retired` has each step of the retirement that status held.
    """

    steps: list[str] = field(default_factory=list)
    waits: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    states: list[dict[str, str]] = field(default_factory=list)
    ready: list[dict[str, int]] = field(default_factory=list)

    def lowest(self, role: str = "server") -> int:
        """The fewest ready replicas a role had."""
        return min(each[role] for each in self.ready)

    def walk(self, slot: str) -> list[str]:
        """The states that a slot went through, for example of `server/0`."""
        walked: list[str] = []
        for each in self.states:
            state = each.get(slot, "Empty")
            if walked[-1:] != [state]:
                walked.append(state)
        return walked


@dataclass(slots=True)
class World:
    """A cluster, the stored status, and virtual time.

    `pace` says how many of the cluster's own moves happen between two passes (None: all), `cuts` after how many
    requests a pass dies (None: it does not). `unseen` are Pods on the API server that the store does not show.
    `witness` says whether what a retirement asks for is proven at once, or never.
    """

    cluster: Cluster
    status: dict[str, object] = field(default_factory=dict)
    now: datetime = NOW
    pace: Iterator[int | None] = field(default_factory=lambda: repeat(None))
    cuts: Iterator[int | None] = field(default_factory=lambda: repeat(None))
    unseen: set[str] = field(default_factory=set)
    said: set[tuple[str, str]] = field(default_factory=set)
    lasting: Lasting | None = None
    ground: Ground | None = None
    witness: bool = True
    inquiry: Inquiry | None = None

    def edit(self, role: str = "server", **fields: Any) -> "World":
        """Edit one role of the spec; `image` there is the role's own."""
        spec = self.cluster.deployment.spec
        roles = tuple(each.model_copy(update=fields) if each.name == role else each for each in spec.roles)
        return self._stored(spec=spec.model_copy(update={"roles": roles}))

    def delete(self) -> "World":
        """Delete the deployment; its finalizer holds it."""
        metadata = self.cluster.deployment.metadata.model_copy(update={"deletion_timestamp": self.now})
        return self._stored(metadata=metadata)

    def _stored(self, **fields: Any) -> "World":
        changed = self.cluster.deployment.model_copy(update=fields)
        generation = (changed.metadata.generation or 0) + 1
        metadata = changed.metadata.model_copy(update={"generation": generation})
        self.cluster.deployment = changed.model_copy(update={"metadata": metadata})
        return self

    def members(self, role: str = "server") -> list[Member]:
        """The role's Pods on the API server, by ordinal and index."""
        mine = [each for each in self.cluster.pods.values() if each.role == role]
        return sorted(mine, key=lambda each: (-1 if each.ordinal is None else each.ordinal, each.index, each.name))

    def uids(self, role: str = "server") -> list[str]:
        """The UIDs of the role's Pods, by ordinal and index."""
        return [each.uid for each in self.members(role)]

    def seen(self) -> Snapshot:
        """What a pass sees now."""
        cluster = self.cluster
        hidden = {each.uid for each in self.lost()} | self.unseen
        members = tuple(each for uid, each in cluster.pods.items() if uid not in hidden)
        uids = {each.uid for each in members}
        return possible(
            Snapshot(
                deployment=cluster.deployment,
                rendering=cluster.rendering,
                members=members,
                workloads=tuple(each for each in cluster.workloads.values() if each.owners & uids),
                objects=tuple(cluster.objects.values()),
                status=self.status,
                evidence=self._evidence(),
            )
        )

    def lost(self) -> tuple[Lost, ...]:
        """The Pods that lost what they are watched by."""
        return tuple(
            Lost(each.name, each.uid, each.group, each.leaving)
            for each in self.cluster.pods.values()
            if each.marks and each.marks[MARKS.index(keys.NAME)] != keys.NAME_VALUE
        )

    def _evidence(self) -> Evidence | None:
        if self.inquiry is None or not self.witness:
            return None
        return Evidence(self.inquiry.members, _PROVEN, _PROVEN, restored=_PROVEN)

    def play(self, *, passes: int = 400) -> Story:
        """Decide and apply until neither the controller nor the cluster has anything left to do."""
        story = Story()
        for _ in range(passes):
            if not self._turn(story):
                return story
        raise AssertionError(f"never came to rest: {story.steps[-6:]} {story.waits[-3:]}")

    def live(self, turns: int) -> Story:
        """Take some turns, at rest or not."""
        story = Story()
        for _ in range(turns):
            self._turn(story)
        return story

    def _turn(self, story: Story) -> bool:
        """One pass and what the cluster does after it; whether anything moved."""
        if self.cluster.gone:
            return False
        self._look(story)
        wrote = self._pass(story)
        moves = self.cluster.moves()
        for move in moves[: next(self.pace)]:
            move()
        hidden = bool(self.unseen)
        self.unseen &= set(self.cluster.pods) if moves else set()
        self.now += timedelta(seconds=1)
        return wrote or hidden or bool(moves)

    def _look(self, story: Story) -> None:
        seen, names = self.seen(), [each.name for each in self.cluster.deployment.spec.roles]
        roles = [role_slots(seen, name) for name in names]
        story.states.append(
            {f"{role.name}/{ordinal}": slot.state for role in roles for ordinal, slot in role.slots.items()}
        )
        ready = {role.name: [all(m.ready for m in slot.live) for slot in role.kept() if slot.live] for role in roles}
        story.ready.append({name: sum(each) for name, each in ready.items()})

    def _pass(self, story: Story) -> bool:
        seen, outcome = self._decided(self.seen(), story)
        self.inquiry = outcome.inquiry
        if outcome.retirement is not None:
            after = patched(self.status, outcome.retirement)
            assert after != self.status, "writes a retirement that says nothing new"
            self.status = after
            self._retire(story)
        if outcome.status is not None:
            after = patched(self.status, outcome.status)
            check_status(self.status, after, self.now.strftime("%Y-%m-%dT%H:%M:%SZ"))
            assert after != self.status, "writes a status that says nothing new"
            self.status = after
            self.lasting = lasting(replace(seen, status=after), replace(outcome, status=None))
        for event in outcome.events:
            if (event.reason, event.about) not in self.said:
                story.events.append(event.reason.value)
                self.said.add((event.reason, event.about))
        match outcome.next:
            case Done():
                _note(story.waits, "done")
            case Blocked(on=wait):
                _note(story.waits, f"wait {wait}")
            case Advance(steps=steps):
                check_steps(seen, self.cluster.pods.values(), steps, self._retired())
                story.steps.append(", ".join(self._word(seen, step) for step in steps))
                requests = [request for step in steps for request in self.cluster.requests(step)]
                for request in requests[: next(self.cuts)]:
                    request()
            case other:
                assert_never(other)
        return bool(outcome.status or outcome.retirement) or isinstance(outcome.next, Advance)

    def _retired(self) -> frozenset[str]:
        """The UIDs of the members that status says are being deleted."""
        held: Any = self.status.get("retirement") or {}
        deleted = held.get("state") in ("Deleting", "Settling")
        return frozenset(held["targetMemberUIDs"]) if deleted else frozenset()

    def _retire(self, story: Story) -> None:
        held = self.status.get("retirement")
        assert held is None or isinstance(held, dict)
        _note(story.retired, f"{held['roleName']}/{held['replicaOrdinal']} {held['state']}" if held else "nobody")

    def _decided(self, seen: Snapshot, story: Story) -> tuple[Snapshot, Decision]:
        again = self.lasting.on(seen) if self.lasting is not None else None
        self.ground = grounds.of(seen, self.ground)
        assert self.ground == grounds.of(seen), "what an earlier pass knew changes the ground"
        if self.ground is not None:
            check_eligible(self.ground.roles, self.ground.reserved)
        asked: list[Fact] = []
        while True:
            outcome = decide(seen, self.now, self.ground)
            if isinstance(outcome, Decision):
                assert again in (None, outcome), "a decision was taken to last that does not"
                self.lasting = lasting(seen, outcome)
                return seen, outcome
            assert outcome.fact not in asked, f"asks twice for {outcome.fact}"
            asked.append(outcome.fact)
            _note(story.asked, outcome.fact.value)
            seen = replace(seen, answers=self._answers(seen.answers, outcome))

    def _answers(self, known: Answers, ask: Ask) -> Answers:
        pods = self.cluster.pods.values()
        match ask.fact:
            case Fact.ROLE_GROUPS:
                held = {each.group for each in pods}
                groups = {role: frozenset(held.intersection(ask.groups[role])) for role in ask.roles}
                lost = tuple(each for each in self.lost() if any(each.group in asked for asked in groups.values()))
                return replace(known, groups=groups, lost=lost)
            case Fact.NAMES:
                return replace(known, names={**known.names, **{kind: Names() for kind in ask.names}})
            case Fact.PODS_LEFT:
                return replace(known, pods_left=len(pods), lost=self.lost())
            case other:
                assert_never(other)

    def _word(self, seen: Snapshot, step: Step) -> str:
        pods = {each.uid: each for each in seen.members}
        match step:
            case AddFinalizer():
                return "add finalizer"
            case DropFinalizer():
                return "drop finalizer"
            case CreateReplica(role, ordinal):
                return f"create {role}/{ordinal}"
            case DeletePod(uid=uid):
                return f"delete {self._seat(pods[uid])}"
            case DeleteWorkload(uid=uid):
                owners = next(each.owners for each in seen.workloads if each.uid == uid)
                owner = next(pods[each] for each in sorted(owners) if each in pods)
                return f"release {owner.role}/{owner.ordinal}"
            case SetEligibility(uid=uid, eligible=eligible):
                return f"{'label' if eligible else 'unlabel'} {self._seat(pods[uid])}"
            case Reclaim(name=name):
                return f"reclaim {name}"
            case CreateObject(name=name):
                return f"front {name}"
            case AlignObject(name=name):
                return f"align {name}"
            case DeleteObject(name=name):
                return f"unfront {name}"
            case TakeOffRetry():
                return "take off retry"
            case SetUsers(binding=binding, users=users):
                mine = any(each.name == self.cluster.deployment.metadata.name for each in users)
                return f"{'claim' if mine else 'release'} binding {binding}"
            case other:
                assert_never(other)

    def _seat(self, member: Member) -> str:
        ordinal = "orphan" if member.ordinal is None else member.ordinal
        spec = next((each for each in self.cluster.deployment.spec.roles if each.name == member.role), None)
        return f"{member.role}/{ordinal}" + (f".{member.index}" if spec is not None and spec.size > 1 else "")


def new(of: ModelDeployment | None = None, **fields: Any) -> World:
    """A world in which somebody has just applied a deployment; `fields` go to the cluster."""
    return World(Cluster(of or deployment(finalizers=()), **fields))


def running(of: ModelDeployment | None = None, **fields: Any) -> World:
    """A world in which a deployment has come up and settled."""
    world = new(of, **fields)
    world.play()
    return world


def _note(lines: list[str], line: str) -> None:
    if lines[-1:] != [line]:
        lines.append(line)
