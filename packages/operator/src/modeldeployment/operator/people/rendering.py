"""Deployments out of manifests, judged, defaulted, and rendered from the facts given or looked up."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from modeldeployment import kube
from modeldeployment.admission import schema
from modeldeployment.admission.facts import Actor, Cache
from modeldeployment.admission.facts import Facts as Known
from modeldeployment.admission.facts import Policy as AdmissionPolicy
from modeldeployment.admission.lookups import Named
from modeldeployment.api import ModelArtifact, ModelDeployment
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people import asking, knowing, manifests
from modeldeployment.operator.people.judging import Judged, judge
from modeldeployment.operator.people.knowing import Given
from modeldeployment.operator.people.manifests import Manifest
from modeldeployment.render import MAKERS, Domain, Facts, Policy, Rendering, RenderRefusal, connection, domain, render

Body = Mapping[str, Any]
T = TypeVar("T")

_KIND: Final = ModelDeployment.__name__
_ARTIFACT: Final = ModelArtifact.__name__
_RUNTIME_CLASS: Final = "RuntimeClass"


@dataclass(frozen=True, slots=True)
class Sources:
    """Where facts come from; `cluster` says whether kubeconfig and context count. The policies are the operator's."""

    facts: Sequence[str] = ()
    cluster: bool = False
    kubeconfig: Path | None = None
    context: str | None = None
    namespace: str = "default"
    admission: AdmissionPolicy = field(default_factory=AdmissionPolicy)
    policy: Policy = field(default_factory=Policy)


@dataclass(frozen=True, slots=True)
class Rendered:
    """One deployment: its verdict, itself as the API server would hold it, and what the controller makes of it.

    `deployment` and `facts` are None where the verdict keeps it out, and so is `outcome`. `notes` say what was not
    given, and what follows from that.
    """

    judged: Judged
    deployment: ModelDeployment | None = None
    facts: Facts | None = None
    outcome: Rendering | RenderRefusal | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ground:
    """Everything that is known: from files, and from a cluster where there is a client of one."""

    given: Given
    artifacts: Mapping[tuple[str, str], ModelArtifact]
    classes: frozenset[str]
    stored: Mapping[tuple[str, str], Body]
    client: kube.Client | None

    async def known(self, named: Named, namespace: str) -> Known:
        """Look up what is named; what is given counts first."""
        known = self.given.about(namespace)
        if self.client is None:
            return known
        absent = knowing.missing(named, known)
        return knowing.joined(known, await asking.facts(self.client, absent, namespace, self.given.policy))

    async def before(self, manifest: Manifest, namespace: str) -> Body | None:
        """The stored object of that name, None where there is none or nothing says."""
        stored = self.stored.get((namespace, manifest.name))
        if stored is None and self.client is not None:
            return await asking.stored(self.client, manifest, namespace)
        return stored

    async def facts(self, deployment: ModelDeployment, namespace: str, policy: Policy) -> tuple[Facts, tuple[str, ...]]:
        """What the deployment is rendered from, and notes on what nobody gave."""
        spec = deployment.spec
        types = tuple(dict.fromkeys(role.instance_type for role in spec.roles))
        named = Named(types, spec.kv_cache.pool_ref.name if spec.kv_cache else "")
        known = await self.known(named, namespace)
        chain = known.caches.get(named.cache)
        found = {name: each for name in types if (each := known.instance_types.get(name)) is not None}
        facts = Facts(
            found,
            policy,
            self.classes if self.client is None else self.classes | await asking.runtime_classes(self.client),
            store=connection(chain.binding, chain.pool, chain.backend) if chain else None,
            native_sidecars=self.client is None or await asking.native_sidecars(self.client),
            artifact=await self._artifact(spec.model.artifact_ref.name if spec.model.artifact_ref else "", namespace),
        )
        notes = [] if self.client else list(self._notes(deployment, known, facts, named, namespace))
        if chain is not None and facts.store is None:
            notes.append(f"{_unusable(chain, named.cache)}: rendered without the shared store")
        return facts, tuple(notes)

    async def _artifact(self, name: str, namespace: str) -> ModelArtifact | None:
        found = self.artifacts.get((namespace, name))
        if found is None and name and self.client is not None:
            return await asking.artifact(self.client, name, namespace)
        return found

    def _notes(
        self, deployment: ModelDeployment, known: Known, facts: Facts, named: Named, namespace: str
    ) -> Iterable[str]:
        way_out = "pass --facts or --cluster"
        absent = knowing.missing(named, known)
        for name in knowing.unread(Named(absent.instance_types), self.given, namespace):
            yield f"{name} is not given, so there is none ({way_out})"
        for name in knowing.unread(Named(cache=absent.cache), self.given, namespace):
            yield f"{name} is not given: rendered without the shared store ({way_out})"
        reference = deployment.spec.model.artifact_ref
        if reference is not None and facts.artifact is None:
            yield f"{_ARTIFACT} {reference.name} is not given, so there is none ({way_out})"
        if not facts.runtime_classes:
            makers = {each.status.detail.manufacturer for each in facts.instance_types.values()}
            wanted = sorted({MAKERS[maker].runtime_class for maker in makers if maker in MAKERS} - {""})
            if wanted:
                yield f"{_RUNTIME_CLASS} {', '.join(wanted)} is not given: rendered without one ({way_out})"


def asked_of(manifest: Manifest) -> Named:
    """Everything that defaulting and judging a create of it looks up."""
    return knowing.asked(manifest.body, None)


def deployments(files: Sequence[str], found: Sequence[Manifest]) -> list[Manifest]:
    """The ModelDeployments among what was read; raises UsageError where there is none."""
    chosen = [each for each in found if each.kind == _KIND and schema.is_ours(each.body)]
    if not chosen:
        kinds = sorted({each.kind or "documents without a kind" for each in found})
        raise UsageError(f"there is no {_KIND} in {', '.join(files)}, only {', '.join(kinds) or 'nothing'}")
    return chosen


def on_ground(sources: Sources, beside: Sequence[Manifest], work: Callable[[Ground], Awaitable[T]]) -> T:
    """Do some work with everything the sources know; raises UsageError and the client's errors."""
    return asyncio.run(_on_ground(sources, beside, work))


async def _on_ground(sources: Sources, beside: Sequence[Manifest], work: Callable[[Ground], Awaitable[T]]) -> T:
    read = list(manifests.read(sources.facts))
    everything = [*beside, *read]  # what was given as a fact counts first, so it comes last
    async with contextlib.AsyncExitStack() as stack:
        client = None
        if sources.cluster:
            client = await stack.enter_async_context(asking.client(sources.kubeconfig, sources.context))
        ground = Ground(
            knowing.given(read, beside, sources.admission),
            _artifacts(everything, sources.namespace),
            frozenset(each.name for each in everything if each.kind == _RUNTIME_CLASS),
            {_place(each, sources.namespace): each.body for each in read if each.kind == _KIND},
            client,
        )
        return await work(ground)


def rendered(files: Sequence[str], sources: Sources) -> tuple[Rendered, ...]:
    """Render every deployment of the files, in their order; raises UsageError and the client's errors."""
    found = list(manifests.read(files))
    chosen = deployments(files, found)

    async def work(ground: Ground) -> tuple[Rendered, ...]:
        return tuple([await _rendered(each, sources, ground) for each in chosen])

    return on_ground(sources, found, work)


async def _rendered(manifest: Manifest, sources: Sources, ground: Ground) -> Rendered:
    namespace = manifest.namespace or sources.namespace
    before = await ground.before(manifest, namespace)
    judged = await reviewed(manifest, before, namespace, ground)
    if not judged.verdict.allowed:
        return Rendered(judged)
    deployment = as_stored(manifest, judged.verdict.defaulted, namespace, before)
    facts, notes = await ground.facts(deployment, namespace, sources.policy)
    return Rendered(judged, deployment, facts, outcome(deployment, facts), notes)


async def reviewed(manifest: Manifest, before: Body | None, namespace: str, ground: Ground) -> Judged:
    """Judge one write as `kubectl md validate` does."""
    asked = knowing.asked(manifest.body, before)
    known = await ground.known(asked, namespace)
    unread = () if ground.client else knowing.unread(knowing.missing(asked, known), ground.given, namespace)
    return Judged(manifest, namespace, judge(manifest.body, before, known, Actor.USER, unread))


def as_stored(manifest: Manifest, body: Body, namespace: str, before: Body | None) -> ModelDeployment:
    """The object as the API server would hold it; its uid is the stored one's, else its own, else empty.

    Raises UsageError for one that cannot be read, or has no name.
    """
    metadata = body.get("metadata") or {}
    check_named(manifest)
    uid = ((before or {}).get("metadata") or {}).get("uid") or metadata.get("uid") or ""
    whole = {name: value for name, value in body.items() if name != "status"}
    try:
        return ModelDeployment.model_validate(whole | {"metadata": {**metadata, "namespace": namespace, "uid": uid}})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        line, column = manifest.position(first["loc"])
        where = ".".join(str(step) for step in first["loc"])
        raise UsageError(f"{manifest.file}:{line}:{column}: {where} cannot be read: {first['msg']}") from error


def check_named(manifest: Manifest) -> None:
    """Raise UsageError for a deployment without a name: everything it owns is named after it."""
    if not manifest.name:
        line, column = manifest.position(("metadata", "generateName"))
        raise UsageError(
            f"{manifest.file}:{line}:{column}: metadata.name is missing, and everything is named after it; "
            "write the name that the object has or will have"
        )


def outcome(deployment: ModelDeployment, facts: Facts) -> Rendering | RenderRefusal:
    """Render a deployment, or say why not."""
    try:
        return render(deployment, facts)
    except RenderRefusal as refusal:
        return refusal


def _unusable(chain: Cache, name: str) -> str:
    """Why a cache that was looked up leads to no store."""
    state = domain(chain.binding)
    if state is Domain.NOT_FOUND:
        return f"there is no KVCachePoolBinding {name}"
    if state is not Domain.REGISTERED:
        return f"KVCachePoolBinding {name} is {'being deleted' if state is Domain.DELETING else 'not ready'}"
    return f"the pool of KVCachePoolBinding {name} publishes no endpoint yet"


def _artifacts(found: Iterable[Manifest], namespace: str) -> dict[tuple[str, str], ModelArtifact]:
    return {
        _place(each, namespace): _artifact(each)
        for each in found
        if each.kind == _ARTIFACT and schema.is_ours(each.body)
    }


def _artifact(manifest: Manifest) -> ModelArtifact:
    try:
        return ModelArtifact.model_validate(manifest.body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        line, column = manifest.position(first["loc"])
        where = ".".join(str(step) for step in first["loc"])
        raise UsageError(
            f"{manifest.file}:{line}:{column}: {_ARTIFACT} {manifest.name} cannot be a fact: {where}: {first['msg']}"
        ) from error


def _place(manifest: Manifest, namespace: str) -> tuple[str, str]:
    return manifest.namespace or namespace, manifest.name
