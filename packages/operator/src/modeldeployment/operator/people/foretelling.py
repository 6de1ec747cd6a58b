"""`kubectl md diff`: what the controller would do to running Pods when one deployment becomes another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from modeldeployment.admission.facts import Actor
from modeldeployment.api import ModelDeployment
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people import manifests, rendering
from modeldeployment.operator.people.judging import Judged, judge
from modeldeployment.operator.people.manifests import Manifest
from modeldeployment.operator.people.rendering import Ground, Sources
from modeldeployment.render import RenderRefusal, attributing, differing
from modeldeployment.render.attributing import Behind
from modeldeployment.render.differing import Foreseen, Outcome

NOTHING: Final = Behind({}, ())


@dataclass(frozen=True, slots=True)
class Foretold:
    """An edit of a settled deployment and what comes of it.

    `judged` is the verdict on the edit. `deployments` are the two sides as the API server would hold them, the second
    None where it is not let in. `fields` are those of the spec that differ, `behind` says which of them change Pods.
    `foreseen` is None where the edit is refused, by admission or (`refusal`) because it cannot be rendered: then no Pod
    is touched.
    """

    judged: Judged
    deployments: tuple[ModelDeployment, ModelDeployment | None]
    fields: tuple[str, ...] = ()
    foreseen: Foreseen | None = None
    behind: Behind = NOTHING
    refusal: RenderRefusal | None = None
    notes: tuple[str, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether the edit, or the router it asks for, is refused."""
        router = self.foreseen.router if self.foreseen else None
        return self.foreseen is None or (router is not None and router.refused is not None)

    @property
    def turned_over(self) -> int:
        """Pods that are replaced."""
        return sum(len(role.replaced) for role in self.foreseen.roles) if self.foreseen else 0

    def outcome(self, role: str) -> str:
        """What happens to a role, in one word."""
        if self.foreseen is None:
            return "refused"
        return next(each.outcome.value for each in self.foreseen.roles if each.name == role)


def foretell(old: str, new: str, sources: Sources) -> Foretold:
    """Foretell the edit from one file's deployment to the other's, both rendered from the same facts.

    Raises UsageError where a file holds not exactly one deployment, the two are not one deployment, or the old one
    cannot be rendered, so that nobody knows what runs; and the client's errors.
    """
    sides = tuple(list(manifests.read([file])) for file in (old, new))
    before, after = (_only(file, found) for file, found in zip((old, new), sides, strict=True))
    rendering.check_named(before)
    rendering.check_named(after)
    places = [(each.namespace or sources.namespace, each.name) for each in (before, after)]
    if places[0] != places[1]:
        names = ["/".join(place) for place in places]
        raise UsageError(
            f"{_at(after, 'metadata', 'name')}: {names[1]} is another deployment than {names[0]} in {old}; "
            "diff compares two states of one"
        )

    async def work(ground: Ground) -> Foretold:
        return await _foretold(before, after, sources, ground)

    return rendering.on_ground(sources, [*sides[0], *sides[1]], work)


async def _foretold(before: Manifest, after: Manifest, sources: Sources, ground: Ground) -> Foretold:
    namespace = before.namespace or sources.namespace
    stored = await _as_stored(before, namespace, ground)
    old = rendering.as_stored(before, stored, namespace, await ground.before(before, namespace) or after.body)
    facts, notes = await ground.facts(old, namespace, sources.policy)
    known = rendering.outcome(old, facts)
    if isinstance(known, RenderRefusal):
        raise UsageError(
            f"{before.file} cannot be rendered, so what runs now is not known: {known.reason.value}: {known.message}"
        )
    judged = await rendering.reviewed(after, stored, namespace, ground)
    if not judged.verdict.allowed:
        return Foretold(judged, (old, None), notes=notes)
    new = rendering.as_stored(after, judged.verdict.defaulted, namespace, old.body())
    fields = attributing.fields(old, new)
    facts, notes = await ground.facts(new, namespace, sources.policy)
    wanted = rendering.outcome(new, facts)
    if isinstance(wanted, RenderRefusal):
        return Foretold(judged, (old, new), fields, refusal=wanted, notes=notes)
    foreseen = differing.foresee(known, wanted)
    moved = any(role.outcome is Outcome.ROLLS for role in foreseen.roles) or foreseen.router is not None
    behind = attributing.behind(old, new, facts) if moved else NOTHING
    return Foretold(judged, (old, new), fields, foreseen, behind, notes=notes)


async def _as_stored(manifest: Manifest, namespace: str, ground: Ground) -> dict[str, Any]:
    """The old object with its defaults; what is stored is not judged again."""
    known = await ground.known(rendering.asked_of(manifest), namespace)
    return judge(manifest.body, None, known, Actor.OPERATOR).defaulted


def _only(file: str, found: Sequence[Manifest]) -> Manifest:
    chosen = rendering.deployments([file], found)
    if len(chosen) > 1:
        names = ", ".join(each.name for each in chosen)
        raise UsageError(f"{_at(chosen[1])}: {file} holds {len(chosen)} deployments ({names}); diff compares one")
    return chosen[0]


def _at(manifest: Manifest, *steps: str) -> str:
    line, column = manifest.position(steps)
    return f"{manifest.file}:{line}:{column}"
