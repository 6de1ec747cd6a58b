"""`kubectl md validate`: read, look up, judge, one object after the other."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from modeldeployment.admission import schema
from modeldeployment.admission.facts import Actor, Policy
from modeldeployment.admission.schema import structure
from modeldeployment.api.keys import GROUP
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people import asking, knowing, manifests
from modeldeployment.operator.people.judging import Judged, judge
from modeldeployment.operator.people.knowing import Given
from modeldeployment.operator.people.manifests import Manifest


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for on the command line; `cluster` says whether kubeconfig and context count."""

    files: Sequence[str]
    old: Sequence[str] = ()
    facts: Sequence[str] = ()
    cluster: bool = False
    kubeconfig: Path | None = None
    context: str | None = None
    namespace: str = "default"
    actor: Actor = Actor.USER
    policy: Policy = field(default_factory=Policy)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdicts, in the order of the files, and notes on what was left aside."""

    judged: tuple[Judged, ...]
    notes: tuple[str, ...] = ()


def validate(wish: Wish) -> Outcome:
    """Judge every object of ours in the files; raises UsageError and the client's errors where that cannot be done."""
    found = list(manifests.read(wish.files))
    submitted = [each for each in found if schema.is_ours(each.body)]
    if not submitted:
        raise UsageError(_nothing(wish.files, found))
    stored = [each for each in manifests.read(wish.old) if schema.is_ours(each.body)]
    old = {_identity(each, wish.namespace): each.body for each in stored}
    given = knowing.given(manifests.read(wish.facts), submitted, wish.policy)
    judged = asyncio.run(_live(wish, submitted, old, given)) if wish.cluster else _offline(wish, submitted, old, given)
    passed = sorted({each.kind or "documents without a kind" for each in found if not schema.is_ours(each.body)})
    notes = [f"passed over, not of {GROUP}: {', '.join(passed)}"] if passed else []
    if wish.old and not wish.cluster:
        notes += [
            f"{each.kind} {each.name} is not in {', '.join(wish.old)}: judged as a create"
            for each in submitted
            if _identity(each, wish.namespace) not in old
        ]
    return Outcome(tuple(judged), tuple(notes))


_Identity = tuple[str, str, str]


def _offline(
    wish: Wish, submitted: Sequence[Manifest], old: dict[_Identity, dict[str, Any]], given: Given
) -> list[Judged]:
    judged = []
    for each in submitted:
        kind, namespace, name = _identity(each, wish.namespace)
        before = old.get((kind, namespace, name))
        known = given.about(namespace)
        absent = knowing.missing(knowing.asked(each.body, before), known)
        verdict = judge(each.body, before, known, wish.actor, knowing.unread(absent, given, namespace))
        judged.append(Judged(each, namespace, verdict))
    return judged


async def _live(
    wish: Wish, submitted: Sequence[Manifest], old: dict[_Identity, dict[str, Any]], given: Given
) -> list[Judged]:
    judged = []
    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(asking.client(wish.kubeconfig, wish.context))
        for each in submitted:
            identity = _identity(each, wish.namespace)
            namespace = identity[1]
            before = old.get(identity) or await asking.stored(client, each, namespace)
            known = given.about(namespace)
            absent = knowing.missing(knowing.asked(each.body, before), known)
            facts = knowing.joined(known, await asking.facts(client, absent, namespace, given.policy))
            judged.append(Judged(each, namespace, judge(each.body, before, facts, wish.actor)))
    return judged


def _identity(each: Manifest, default: str) -> _Identity:
    kind = structure.KINDS.get(each.kind)
    namespaced = kind is None or kind.namespaced
    return each.kind, (each.namespace or default) if namespaced else "", each.name


def _nothing(files: Sequence[str], found: Sequence[Manifest]) -> str:
    where = ", ".join(files)
    if not found:
        return f"there is no object in {where}"
    kinds = sorted({each.kind or "no kind" for each in found})
    return f"there is no object of {GROUP} in {where}, only {', '.join(kinds)}"
