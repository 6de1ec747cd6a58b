"""What the schema of a kind refuses, sort by sort: the same verdict as the API server's, in our words."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from modeldeployment.admission import patching
from modeldeployment.admission.examples import Example
from modeldeployment.admission.patching import Operation
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.schema import checking, structure, suggesting
from modeldeployment.admission.verdict import Cause, Refusal
from modeldeployment.api import frozen
from modeldeployment.api.keys import API_VERSION, GROUP, VERSION


@row(trigger=Example({"spec.roles[0].imagePulPolicy": "Always"}), near_miss=Example({"spec.model.name": "any"}))
def unknown_field(subject: structure.Submitted) -> Iterator[Refusal]:
    """MD901 | * | A field the kind does not have.

    An unknown field is refused rather than dropped: a misspelt one would otherwise do nothing and say nothing. What is
    kept for a later release (`x-kubernetes-preserve-unknown-fields`) is exempt.

    Source: spec 1 §Admission refusals (a `template` field on a role).
    """
    for field, fault in subject.of(checking.KNOWN):
        *above, name = fault.path
        if moved := suggesting.moved(subject.kind.kind, fault.path):
            yield Refusal("MD901", field, fault.value, *moved, Cause.FORBIDDEN)
            continue
        where = structure.spelled(tuple(above)) or subject.kind.kind
        near = suggesting.nearest(str(name), fault.demand)
        patch: tuple[Operation, ...] = ()
        if near and patching.found(subject.body, structure.spelled((*above, near))) is None:
            patch = (
                {"op": "move", "from": suggesting.pointer(fault.path), "path": suggesting.pointer((*above, near))},
            )
        yield Refusal(
            "MD901",
            field,
            fault.value,
            why=f"{where} has no field {name}",
            way_out=f"write {near}" if near else suggesting.elsewhere(subject.kind, str(name), fault.demand),
            cause=Cause.FORBIDDEN,
            patch=patch,
        )


@row(trigger=Example({"spec.model": {}}), near_miss=Example({"spec.model": {"name": "any"}}))
def missing(subject: structure.Submitted) -> Iterator[Refusal]:
    """MD902 | * | A required field that is missing or null.

    An explicit null reads as a field that was never written.

    Source: decisions D45.
    """
    for field, fault in subject.of("required", checking.NAMED):
        *above, name = fault.path
        where = structure.spelled(tuple(above)) or subject.kind.kind
        yield Refusal(
            "MD902",
            field,
            None,
            f"{where} needs {name}",
            f"set {name}{suggesting.example(fault, str(name))}",
            Cause.REQUIRED,
        )


@row(trigger=Example({"spec.engine.version": 0.29}), near_miss=Example({"spec.engine.version": "0.29"}))
def wrong_type(subject: structure.Submitted) -> Iterator[Refusal]:
    """MD903 | * | A value of another type than the field has.

    The common ones: a version or an environment value that YAML reads as a number or a boolean, which quotes prevent; a
    number in quotes; one value where a list is meant.

    Source: the CustomResourceDefinition of the kind.
    """
    for field, fault in subject.of("type", checking.INT_OR_STRING):
        wanted = "integer or string" if fault.keyword == checking.INT_OR_STRING else suggesting.wanted(fault.demand)
        way_out, patch = suggesting.retyped(wanted, field, fault.value)
        why = f"it must be {suggesting.SORTS[wanted]}, not {suggesting.sort_of(fault.value)}"
        if type(fault.value) is int and wanted == "integer or string":
            why = "as a number it does not fit into 64 bits"
        yield Refusal("MD903", field, fault.value, why, way_out, patch=patch)


@row(trigger=Example({"spec.roles[0].replicas": 1025}), near_miss=Example({"spec.roles[0].replicas": 1024}))
def out_of_bounds(subject: structure.Submitted) -> Iterator[Refusal]:
    """MD904 | * | A number outside the bounds of its field.

    Bounds are this operator's own; `replicas` over 1024 or `size` over 64, for example, would be more Pods than one
    pass may render.

    Source: spec 1 §Admission refusals.
    """
    for field, fault in subject.of("minimum", "maximum", "format"):
        low, high = fault.node.get("minimum"), fault.node.get("maximum")
        limit = low if fault.keyword == "minimum" else high
        bounds = f"from {low} to {high}" if low is not None and high is not None else None
        if limit is None:
            why, way_out, patch = f"it does not fit into {fault.demand}", "write a smaller number", ()
        else:
            why = f"it must be {bounds or ('at least' if limit == low else 'at most') + f' {limit}'}"
            way_out, patch = f"write {limit} or {'more' if limit == low else 'less'}", ()
        yield Refusal("MD904", field, fault.value, why, way_out, patch=patch)


@row(trigger=Example({"spec.engine.name": "vllm"}), near_miss=Example({"spec.engine.name": "vLLM"}))
def not_a_choice(subject: structure.Submitted) -> Iterator[Refusal]:
    """MD905 | * | A value that is not one of the field's choices.

    Choices are spelled exactly, capitals included.

    Source: the CustomResourceDefinition of the kind.
    """
    for field, fault in subject.of("enum"):
        near = suggesting.nearest(suggesting.text(fault.value), fault.demand)
        choices = " or ".join([", ".join(fault.demand[:-1]), fault.demand[-1]] if fault.demand[1:] else fault.demand)
        yield Refusal(
            "MD905",
            field,
            fault.value,
            why=f"it must be {choices}",
            way_out=f"write {near or choices}",
            cause=Cause.NOT_SUPPORTED,
            patch=(patching.replace(field, near),) if near else (),
        )


@row(trigger=Example({"spec.roles[0].name": "Server"}), near_miss=Example({"spec.roles[0].name": "server"}))
def misspelt(subject: structure.Submitted) -> Iterator[Refusal]:
    """MD906 | * | A text that has not the form its field asks for.

    Names become names of Services, Pods or labels, and paths become mounts; Kubernetes takes neither in another form.

    Source: the CustomResourceDefinition of the kind.
    """
    for field, fault in subject.of("pattern"):
        demand = str(fault.demand)
        lowered = suggesting.text(fault.value).lower().replace("_", "-")
        fits = not field.endswith("]") and lowered != fault.value and re.fullmatch(demand, lowered)
        yield Refusal(
            "MD906",
            field,
            fault.value,
            why=f"it does not match {demand}",
            way_out=f"write {lowered}" if fits else suggesting.form(demand),
            patch=(patching.replace(field, lowered),) if fits and field != "metadata.name" else (),
        )


@row(
    trigger=Example({"spec.roles[0].env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}),
    near_miss=Example({"spec.roles[0].env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}),
)
def duplicate(subject: structure.Submitted) -> Iterator[Refusal]:
    """MD907 | * | Two entries of a list that is told apart by a key have the same key.

    Roles are told apart by name, ports by port and protocol, environment variables by name.

    Source: spec 1 §Admission refusals (two roles sharing a `name`).
    """
    for field, fault in subject.of(checking.MAP_KEYS, checking.LIST_TYPE):
        keys = fault.demand if fault.keyword == checking.MAP_KEYS else ("value",)
        told = " and ".join(keys)
        yield Refusal(
            "MD907",
            field,
            fault.value,
            why=f"an earlier entry has the same {told}",
            way_out=f"give each entry its own {told}, or take one out",
            cause=Cause.DUPLICATE,
        )


_LENGTHS: Final[Mapping[str, tuple[str, Cause]]] = {
    "minLength": ("write a longer one", Cause.INVALID),
    "maxLength": ("write a shorter one", Cause.TOO_LONG),
    "minItems": ("add entries", Cause.INVALID),
    "maxItems": ("take entries out", Cause.TOO_MANY),
    "minProperties": ("add entries", Cause.INVALID),
    "maxProperties": ("take entries out", Cause.TOO_MANY),
}


@row(trigger=Example({"spec.roles[0].image": "i" * 513}), near_miss=Example({"spec.roles[0].image": "i" * 512}))
def too_long(subject: structure.Submitted) -> Iterator[Refusal]:
    """MD908 | * | A text too long or too short, or a list with too many or too few entries.

    Source: the CustomResourceDefinition of the kind.
    """
    for field, fault in subject.of(*_LENGTHS):
        way_out, cause = _LENGTHS[fault.keyword]
        bounds, size = suggesting.extent(fault.keyword, fault.demand), len(fault.value)
        why = f"it has {size} and must have {bounds}" if size else "it is empty"
        if (subject.kind.kind, field, fault.keyword) == ("ModelDeployment", "spec.roles", "maxItems"):
            way_out = f"keep at most {frozen.ADMITTED_ROLES} roles: that is this operator's own shape limit"
        yield Refusal("MD908", field, fault.value, why, way_out if size else f"give it {bounds}", cause)


@row(
    trigger=Example({"apiVersion": f"{GROUP}/v1alpha1"}),
    near_miss=Example({"apiVersion": API_VERSION}),
)
def unknown_kind(body: Mapping[str, Any]) -> Iterator[Refusal]:
    """MD909 | kind | A kind or a version this release does not serve.

    One version is served and stored. An object of another one has to be written anew; its fields may have changed.

    Source: decisions D20.
    """
    kinds = tuple(structure.KINDS)
    if isinstance(body.get("kind"), str) and body["kind"] in kinds:
        yield Refusal(
            "MD909",
            "apiVersion",
            body.get("apiVersion"),
            why=f"{body['kind']} is served as {API_VERSION} alone",
            way_out=f"write apiVersion: {API_VERSION}, and check the fields against that version",
            cause=Cause.NOT_SUPPORTED,
            patch=(patching.put("apiVersion", API_VERSION),),
        )
        return
    near = suggesting.nearest(suggesting.text(body.get("kind")), kinds)
    yield Refusal(
        "MD909",
        "kind",
        body.get("kind"),
        why=f"{GROUP}/{VERSION} has no kind of that name",
        way_out=f"write kind: {near}" if near else f"write one of {', '.join(sorted(kinds))}",
        cause=Cause.NOT_SUPPORTED,
        patch=(patching.put("kind", near),) if near else (),
    )


RULES: Final[tuple[Row[Any, Any], ...]] = (
    unknown_field,
    missing,
    wrong_type,
    out_of_bounds,
    not_a_choice,
    too_long,
    misspelt,
    duplicate,
)
"""In this order the first says what is said of a field."""

TABLE: Final[tuple[Row[Any, Any], ...]] = (*RULES, unknown_kind)
"""Every row that has a page."""
