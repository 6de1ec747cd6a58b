"""Facts out of manifests, and what could not be looked up in them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pydantic import ValidationError

from modeldeployment.admission import lookups, schema
from modeldeployment.admission.facts import Facts, Policy
from modeldeployment.admission.gathering import from_manifests
from modeldeployment.admission.lookups import Named
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people.manifests import Manifest

Body = Mapping[str, Any]

_CLUSTER_WIDE: Final = ("InstanceType", "KVCachePool", "KVCacheBackend")
LOOKED_UP: Final = (*_CLUSTER_WIDE, "KVCachePoolBinding", "ModelDeployment", "ModelDeploymentScaler")
"""The kinds that admission reads."""


@dataclass(frozen=True, slots=True)
class Given:
    """Objects a review may look up, as far as they were given.

    `beside` are the objects under review themselves: they know each other, but for scalers, whose claims only a
    live one can make, and for InstanceTypes without a status, whose hardware nobody has observed.
    """

    facts: Sequence[Manifest]
    beside: Sequence[Manifest] = ()
    policy: Policy = field(default_factory=Policy)

    def about(self, namespace: str) -> Facts:
        """What is known for a review of an object of that namespace."""
        known = self.seen_from(namespace)
        whole = [body for body in known.values() if not _broken_chain(body, known)]
        return from_manifests(whole, self.policy, complete=False)

    def seen_from(self, namespace: str) -> dict[tuple[str, str], Body]:
        """The objects that count in a namespace, by kind and name; what was given as a fact counts first."""
        return {
            (each.kind, each.name): each.body
            for each in (*self.beside, *self.facts)
            if each.kind in _CLUSTER_WIDE or (each.namespace or namespace) == namespace
        }


def given(facts: Iterable[Manifest], submitted: Iterable[Manifest], policy: Policy) -> Given:
    """Take facts from manifests; raises UsageError naming one that is not what its kind says."""
    told = [each for each in facts if each.kind in LOOKED_UP and schema.is_ours(each.body)]
    for each in told:
        if fault := _fault(each):
            line, column = each.position(())
            raise UsageError(f"{each.file}:{line}:{column}: {each.kind} {each.name} cannot be a fact: {fault}")
    beside = [each for each in submitted if each.kind in LOOKED_UP and _stands_beside(each) and not _fault(each)]
    return Given(told, beside, policy)


def asked(new: Body, old: Body | None) -> Named:
    """Everything one review looks up."""
    judged, defaulted = lookups.to_judge(new, old), lookups.to_default(new)
    types = dict.fromkeys((*judged.instance_types, *defaulted.instance_types))
    return replace(judged, instance_types=tuple(types))


def missing(named: Named, facts: Facts) -> Named:
    """What of it is not known."""
    return Named(
        tuple(name for name in named.instance_types if name not in facts.instance_types),
        named.cache if named.cache not in facts.caches else "",
        tuple(name for name in named.scalers if name not in facts.scalers),
        tuple(name for name in named.targets if name not in facts.targets),
    )


def joined(first: Facts, second: Facts) -> Facts:
    """Both; where both know something, the first counts."""
    return Facts(
        {**second.instance_types, **first.instance_types},
        {**second.caches, **first.caches},
        {**second.scalers, **first.scalers},
        {**second.targets, **first.targets},
        first.policy,
    )


def unread(missing: Named, given: Given, namespace: str) -> tuple[str, ...]:
    """What is missing, kind and name; of a cache the first link that was not given."""
    return (
        *(f"InstanceType {name}" for name in missing.instance_types),
        *([_end_of_chain(missing.cache, given.seen_from(namespace))] if missing.cache else ()),
        *(f"ModelDeploymentScaler {name}" for name in missing.scalers),
        *(f"ModelDeployment {name}" for name in missing.targets),
    )


def _end_of_chain(binding: str, known: Mapping[tuple[str, str], Body]) -> str:
    link = ("KVCachePoolBinding", binding)
    while link in known and (following := _following(known[link])):
        link = following
    return " ".join(link)


_CHAIN: Final = {"KVCachePoolBinding": "KVCachePool", "KVCachePool": "KVCacheBackend", "KVCacheBackend": ""}


def _following(body: Body) -> tuple[str, str] | None:
    """Kind and name of the next link of a cache, None at its end."""
    spec, kind = body["spec"], _CHAIN[body["kind"]]
    if kind == "KVCachePool":
        return kind, spec["poolRef"]["name"]
    return (kind, spec["backends"][0]["name"]) if kind and spec["backends"] else None


def _broken_chain(body: Body, known: Mapping[tuple[str, str], Body]) -> bool:
    """Whether a binding leads to something that was not given, so that nothing is known of its cache."""
    if body["kind"] != "KVCachePoolBinding":
        return False
    link: Body | None = body
    while link is not None and (following := _following(link)):
        link = known.get(following)
        if link is None:
            return True
    return False


def _stands_beside(each: Manifest) -> bool:
    return each.kind != "ModelDeploymentScaler" and (each.kind != "InstanceType" or bool(each.body.get("status")))


def _fault(each: Manifest) -> str:
    """Why the manifest cannot be read as its kind; empty when it can."""
    if not each.name:
        return "it has no name"
    try:
        from_manifests([each.body], Policy(), complete=False)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(str(step) for step in first['loc'])}: {first['msg']}"
    return ""
