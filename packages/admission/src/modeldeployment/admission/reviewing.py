"""The review: defaults, then every refusal, then every warning, of one submitted object.

Source: spec 1 §Admission refusals, spec 3, facts admission §2 to §8.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from modeldeployment.admission import defaulting, lints, order, patching, rules, schema
from modeldeployment.admission.facts import Actor, Facts
from modeldeployment.admission.rule import Row
from modeldeployment.admission.schema import structure
from modeldeployment.admission.subjects import DeploymentReview, ScalerReview
from modeldeployment.admission.verdict import Caution, Refusal, Unready, Verdict, brief
from modeldeployment.api import ModelDeployment
from modeldeployment.api.document import Document
from modeldeployment.api.scaler import ModelDeploymentScaler


@dataclass(frozen=True, slots=True)
class _Kind:
    """What belongs to one kind: its model, the subject its rows judge, its defaults and its two tables.

    `missing` refuses names of objects that are not there, in an object too far from its schema for the rows.
    """

    model: type[Any]
    subject: type[Any]
    defaults: Any
    rules: tuple[Row[Any, Any], ...]
    lints: tuple[Row[Any, Any], ...]
    missing: Callable[[Mapping[str, Any], Facts], Iterable[Refusal]]


_KINDS: Final[Mapping[str, _Kind]] = {
    "ModelDeployment": _Kind(
        ModelDeployment,
        DeploymentReview,
        defaulting.deployments,
        rules.DEPLOYMENTS,
        lints.DEPLOYMENTS,
        missing=defaulting.deployments.missing_types,
    ),
    "ModelDeploymentScaler": _Kind(
        ModelDeploymentScaler,
        ScalerReview,
        defaulting.scalers,
        rules.SCALERS,
        lints.SCALERS,
        missing=lambda *_: (),
    ),
}

REVIEWED: Final = tuple(_KINDS)
"""The kinds whose writes are reviewed; the others are held by their schema alone."""


def mutate(new: Mapping[str, Any], facts: Facts) -> defaulting.Defaulted:
    """Answer what the mutating half of the webhook does to `new`, an object as JSON that the schema may yet refuse.

    Its refusals say what no default could be found for; `review` finds the same among all others. Raises KeyError for a
    kind that is not reviewed.
    """
    outcome: defaulting.Defaulted = _KINDS[new["kind"]].defaults.defaults(new, facts)
    return outcome


def review(new: Mapping[str, Any], old: Mapping[str, Any] | None, facts: Facts, actor: Actor = Actor.USER) -> Verdict:
    """Judge the write of `new` over `old` (None: a create); both are objects as JSON, `new` with or without defaults.

    All refusals come together, in field order. What the schema refuses is the API server's to say; an object too far
    from it to be read is judged against the schema and for missing InstanceTypes, and let go where it is being
    deleted, so that no stored object is ever held. Raises KeyError for a kind that is not reviewed.
    """
    kind = _KINDS[new["kind"]]
    new = still_leaving(new, old)
    outcome = kind.defaults.defaults(new, facts)
    body = outcome.applied_to(new)
    parsed = _parsed(kind.model, body)
    if parsed is None:
        deleting = patching.found(body, "metadata.deletionTimestamp") is not None
        refused = [] if deleting else [*schema.violations(body), *kind.missing(body, facts)]
        if not deleting and not refused:
            refused = list(_unread(kind.model, body))
        return Verdict(body, outcome.operations, refusals=tuple(order.in_field_order(kind.model, refused)))
    stored = None if old is None else _stored(kind.model, old, body, parsed)
    subject = kind.subject(parsed, stored, body, facts, actor, new)
    refusals, unready = _judged(kind.rules, subject)
    return Verdict(
        body,
        outcome.operations,
        refusals=tuple(order.in_field_order(kind.model, refusals)),
        warnings=tuple(order.in_field_order(kind.model, list(_said(kind.lints, subject)))),
        unready=tuple(unready),
    )


def still_leaving(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """`new` as the API server stores it: no write takes a deletion back, whether its manifest knows of it or not."""
    stamp = patching.found(old or {}, "metadata.deletionTimestamp")
    metadata = new.get("metadata") or {}
    if stamp is None or not isinstance(metadata, Mapping) or metadata.get("deletionTimestamp") is not None:
        return new
    return {**new, "metadata": {**metadata, "deletionTimestamp": stamp}}


def _parsed(model: type[Document], body: Mapping[str, Any]) -> Document | None:
    try:
        return model.model_validate(_declared(body))
    except ValidationError:
        return None


def _declared(body: Mapping[str, Any]) -> dict[str, Any]:
    """All but the status: no row reads it, a write of the object does not change it, and it can be most of the size."""
    return {name: value for name, value in body.items() if name != "status"}


def _unread(model: type[Document], body: Mapping[str, Any]) -> Iterator[Refusal]:
    """Why an object cannot be read that its schema holds nothing against: what no row has judged is not let in."""
    try:
        model.model_validate(_declared(body))
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            field = structure.spelled(fault["loc"])
            yield Refusal(
                "MD906",
                field,
                patching.found(body, field),
                why=f"it cannot be read: {brief(fault['msg'], 200)}",
                way_out="write it as the reference of the kind says, or leave it out",
            )


def _stored(model: type[Document], old: Mapping[str, Any], body: Mapping[str, Any], parsed: Any) -> Document | None:
    """The stored object. What an edit leaves as it was is most of an object, so what is equal is read once for both."""
    spec = patching.found(old, "spec")
    roles = patching.found(old, "spec.roles")
    if not isinstance(spec, Mapping) or not isinstance(roles, list):
        return _parsed(model, old) or _parsed(model, _read_as(old, body))
    written = body["spec"]
    known = {
        field.alias: getattr(parsed.spec, name)
        for name, field in type(parsed.spec).model_fields.items()
        if field.alias in spec and field.alias in written and spec[field.alias] == written[field.alias]
    }
    if "roles" not in known:
        read = tuple(zip(written["roles"], parsed.spec.roles, strict=True))
        known["roles"] = [next((role for raw, role in read if raw == stored), stored) for stored in roles]
    return _parsed(model, {**old, "spec": {**spec, **known}}) or _parsed(model, _read_as(old, body))


def _read_as(old: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """A stored object that another release wrote and this one cannot read, as far as it can be read.

    Its own metadata and replica counts, and the submitted object otherwise. An update must never pass for a create: the
    fence would fall.
    """
    stored = patching.found(old, "spec.roles")
    counts = {
        role.get("name"): role["replicas"]
        for role in (stored if isinstance(stored, list) else ())
        if isinstance(role, Mapping) and isinstance(role.get("name"), str) and isinstance(role.get("replicas"), int)
    }
    spec = body["spec"]
    roles = [{**role, "replicas": counts[role["name"]]} if role["name"] in counts else role for role in spec["roles"]]
    metadata = old.get("metadata")
    return {**body, "metadata": metadata if isinstance(metadata, Mapping) else {}, "spec": {**spec, "roles": roles}}


def _judged(rows: Iterable[Row[Any, Any]], subject: Any) -> tuple[list[Refusal], list[Unready]]:
    refusals: list[Refusal] = []
    unready: list[Unready] = []
    deleting = subject.deleting
    for late in (False, True):
        if late and refusals:
            break
        for row in rows:
            if row.late is not late or not row.applies(deleting=deleting):
                continue
            for outcome in row.judge(subject):
                (unready if isinstance(outcome, Unready) else refusals).append(outcome)
    return refusals, unready


def _said(rows: Iterable[Row[Any, Any]], subject: Any) -> Iterable[Caution]:
    deleting = subject.deleting
    return (caution for row in rows if row.applies(deleting=deleting) for caution in row.judge(subject))
