"""The deployment controller: observe, decide, act, once a wake-up."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import assert_never

from modeldeployment.api import EventReason, ModelDeployment, RefusalReason, keys
from modeldeployment.kube import Client, Conflict, NotFound, Recorder, shapes
from modeldeployment.reconcile import acting, following, observing, reading
from modeldeployment.reconcile.answering import answer
from modeldeployment.reconcile.deciding.passing import SOON, decide
from modeldeployment.reconcile.deciding.seen import OwnedKind, Snapshot, Weights
from modeldeployment.reconcile.deciding.steps import Advance, Announcement, Blocked, Decision, Done, Fact, Step, Wait
from modeldeployment.reconcile.errors import CreateFailed, ObjectRefused, ReconcileError, Unreadable
from modeldeployment.reconcile.expecting import Expectations
from modeldeployment.reconcile.kinds import DEPLOYMENTS
from modeldeployment.reconcile.servers import native_sidecars
from modeldeployment.reconcile.watching import Key, Watched
from modeldeployment.render import Facts, Policy, Rendering, RenderRefusal, Store, WeightsRefusal, render

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Tally:
    """What the controller has done since it started, for the operator's metrics."""

    passes: int = 0
    steps: dict[str, int] = field(default_factory=dict)
    status_writes: int = 0
    events: int = 0


@dataclass(slots=True)
class _Memory:
    """What is remembered of a deployment between passes: nothing that a restart may not lose."""

    version: str = ""
    deployment: ModelDeployment | None = None
    status: Mapping[str, object] = field(default_factory=dict)
    rendered_from: tuple[object, ...] = ()
    rendering: Rendering | RenderRefusal | None = None
    said: frozenset[tuple[EventReason, str]] = frozenset()


class DeploymentController:
    """Reconciles ModelDeployments; `reconcile(key)` is one pass.

    `policy` holds the settings that rendering reads. `clock` is the only source of time.
    """

    def __init__(
        self,
        client: Client,
        watched: Watched,
        recorder: Recorder,
        policy: Policy,
        clock: Callable[[], datetime],
    ) -> None:
        self._client = client
        self._watched = watched
        self._recorder = recorder
        self._policy = policy
        self._clock = clock
        self._expected = Expectations()
        self._memory: dict[Key, _Memory] = {}
        self._native_sidecars: bool | None = None
        self.tally = Tally()

    def set_policy(self, policy: Policy) -> bool:
        """Render with other settings from now on; says whether they are others."""
        changed, self._policy = policy != self._policy, policy
        return changed

    async def reconcile(self, key: Key) -> float | None:
        """Take one pass over a deployment: seconds until the next look at the latest, None where a change must wake it.

        Raises KubeError, CreateFailed, ObjectRefused or Unreadable where the pass could not be finished; it is then
        tried again.
        """
        stored = self._watched.deployments.get(key.namespace, key.name)
        if stored is None:
            self._memory.pop(key, None)
            self._expected.forget(key)
            return None
        memory = self._memory.setdefault(key, _Memory())
        if self._native_sidecars is None:
            self._native_sidecars = await native_sidecars(self._client)
        snapshot = self._observe(key, stored, memory, native=self._native_sidecars)
        decision = await self._decided(key, snapshot)
        self.tally.passes += 1
        try:
            return await self._carry_out(key, stored, memory, snapshot, decision)
        except Conflict as conflict:
            log.debug("pass lost a race, taken again", extra={"object": str(key), "reason": conflict.reason})
            return 0.1

    def _observe(self, key: Key, stored: shapes.Custom, memory: _Memory, *, native: bool) -> Snapshot:
        meta, watched = stored.metadata, self._watched
        deployment = self._read(stored, memory)
        pods = watched.pods.by_index("owner", meta.uid)
        groups = {
            workload.metadata.uid: workload
            for pod in pods
            for workload in watched.workloads.by_index("member", pod.metadata.uid)
        }
        attachment, store = following.cache(watched, deployment)
        rendering, weights = self._rendering(deployment, store, memory, native=native)
        return Snapshot(
            deployment=deployment,
            rendering=rendering,
            members=tuple(watched.members.of(pod) for pod in pods),
            workloads=tuple(watched.groups.of(workload) for workload in groups.values()),
            objects=tuple(
                watched.kept[kind].of(each)
                for kind, owned in watched.owned.items()
                for each in owned.by_index("owner", meta.uid)
            ),
            status=memory.status,
            cache=attachment,
            weights=weights,
            stale=not self._expected.met(key, self._revisions()),
        )

    def _revisions(self) -> dict[str, int]:
        return {plural: store.revision for plural, store in self._watched.stores().items()}

    def _read(self, stored: shapes.Custom, memory: _Memory) -> ModelDeployment:
        version = f"{stored.metadata.uid}/{stored.metadata.resource_version}"
        if memory.deployment is None or memory.version != version:
            memory.deployment = reading.deployment(stored)
            memory.status = observing.table(stored.status)
            memory.version = version
        return memory.deployment

    def _rendering(
        self, deployment: ModelDeployment, store: Store | None, memory: _Memory, *, native: bool
    ) -> tuple[Rendering | RenderRefusal, Weights | None]:
        """The rendering, made anew only where something it is made from has changed; and the weights it loads."""
        named = {role.instance_type for role in deployment.spec.roles}
        read = {
            name: self._watched.read_types.of(each)
            for name in sorted(named)
            if (each := self._watched.types.get("", name)) is not None
        }
        classes = frozenset(each.metadata.name for each in self._watched.runtime_classes.items())
        try:
            artifact = following.artifact(self._watched, deployment)
        except WeightsRefusal as refusal:
            return refusal, None
        # Of what is only followed, what is read of it: figures move all the time.
        source = (
            deployment.metadata.uid,
            deployment.metadata.generation,
            self._policy,
            classes,
            store,
            artifact,
            native,
            *read.values(),
        )
        if memory.rendering is None or memory.rendered_from != source:
            types = {name: each for name, each in read.items() if not isinstance(each, Unreadable)}
            facts = Facts(types, self._policy, classes, store, artifact, native)
            unreadable = next((each for each in read.values() if isinstance(each, Unreadable)), None)
            memory.rendering = _rendered(deployment, facts) if unreadable is None else _unready(unreadable)
            memory.rendered_from = source
        return memory.rendering, following.weights(artifact, self._policy)

    async def _decided(self, key: Key, snapshot: Snapshot) -> Decision:
        """Answer what the pass asks for until it decides; asking twice for one fact is a defect."""
        now, uid = self._clock(), snapshot.deployment.metadata.uid or ""
        asked: set[Fact] = set()
        while True:
            outcome = decide(snapshot, now)
            if isinstance(outcome, Decision):
                return outcome
            if outcome.fact in asked:
                raise ReconcileError(f"{key}: the pass asked twice for {outcome.fact}")
            asked.add(outcome.fact)
            answers = await answer(self._client, key, uid, snapshot.answers, outcome)
            snapshot = replace(snapshot, answers=answers)

    async def _carry_out(
        self, key: Key, stored: shapes.Custom, memory: _Memory, snapshot: Snapshot, decision: Decision
    ) -> float | None:
        target = self._target(key, stored, snapshot)
        if decision.status is not None:
            try:
                await acting.write_status(self._client, target, decision.status)
            except NotFound:
                return None
            self.tally.status_writes += 1
        if not (isinstance(decision.next, Blocked) and decision.next.on is Wait.STALE_STORE):
            await self._announce(stored, memory, decision.events)
        match decision.next:
            case Done():
                return None
            case Blocked(until=until):
                return None if until is None else max(0.0, (until - self._clock()).total_seconds())
            case Advance(steps=steps):
                await self._advance(stored, target, steps)
                return SOON.total_seconds()
            case other:
                assert_never(other)

    async def _advance(self, stored: shapes.Custom, target: acting.Target, steps: tuple[Step, ...]) -> None:
        for step in steps:
            name = type(step).__name__
            self.tally.steps[name] = self.tally.steps.get(name, 0) + 1
        log.info("pass writes", extra={"object": str(target.key), "reason": _summary(steps)})
        try:
            await acting.carry_out(self._client, target, steps)
        except CreateFailed as failed:
            await self._emit(stored, Announcement(EventReason.REPLICA_NOT_CREATED, str(failed), ""))
            raise
        except ObjectRefused as refused:
            await self._emit(stored, Announcement(EventReason.OBJECT_REFUSED, str(refused), ""))
            raise

    def _target(self, key: Key, stored: shapes.Custom, snapshot: Snapshot) -> acting.Target:
        meta = stored.metadata

        def wanted() -> bool:
            now = self._watched.deployments.get(key.namespace, key.name)
            return (
                now is not None
                and now.metadata.uid == meta.uid
                and now.metadata.generation == meta.generation
                and now.metadata.deletion_timestamp is None
            )

        def version(kind: OwnedKind, name: str) -> str:
            seen = self._watched.owned[kind].get(key.namespace, name)
            return seen.metadata.resource_version if seen is not None else ""

        return acting.Target(
            key=key,
            uid=meta.uid,
            resource_version=meta.resource_version,
            finalizers=meta.finalizers,
            rendering=snapshot.rendering,
            wrote=lambda store, version: self._expected.wrote(key, store, version),
            wanted=wanted,
            version=version,
        )

    async def _announce(self, stored: shapes.Custom, memory: _Memory, events: tuple[Announcement, ...]) -> None:
        """Say each occurrence once: what the last pass said already is not said again."""
        for event in events:
            if (event.reason, event.about) not in memory.said:
                await self._emit(stored, event)
        memory.said = frozenset((event.reason, event.about) for event in events)

    async def _emit(self, stored: shapes.Custom, event: Announcement) -> None:
        meta = stored.metadata
        regarding = shapes.ObjectReference(
            api_version=keys.API_VERSION,
            kind=DEPLOYMENTS.kind,
            name=meta.name,
            namespace=meta.namespace,
            uid=meta.uid,
        )
        await self._recorder.emit(regarding, "Warning", event.reason.value, event.note, "Reconcile")
        self.tally.events += 1


def _rendered(deployment: ModelDeployment, facts: Facts) -> Rendering | RenderRefusal:
    try:
        return render(deployment, facts)
    except RenderRefusal as refusal:
        return refusal


def _unready(unreadable: Unreadable) -> RenderRefusal:
    return RenderRefusal(RefusalReason.INSTANCE_TYPE_NOT_READY, None, str(unreadable), retryable=True)


def _summary(steps: tuple[Step, ...]) -> str:
    counts: dict[str, int] = {}
    for step in steps:
        counts[type(step).__name__] = counts.get(type(step).__name__, 0) + 1
    return ", ".join(f"{count} x {name}" for name, count in counts.items())


def utc_now() -> datetime:
    """The rim's clock."""
    return datetime.now(UTC)  # noqa: TID251 (the one place where time enters)
