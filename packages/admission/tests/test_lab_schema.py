"""What the command line says without a cluster, against a real API server: the same refusals at the same fields."""

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from modeldeployment.admission import patching
from modeldeployment.admission.examples import GONE, changed
from modeldeployment.admission.rules import others
from modeldeployment.admission.schema import defaulted, structure, violations
from modeldeployment.admission.schema.checking import Node
from modeldeployment.kube import Client, Invalid, Request
from schema_cases import CASES, VALID

pytestmark = pytest.mark.lab

UNKNOWN = re.compile(r'unknown field "([^"]+)"')
CROSS_FIELD = re.compile(r"\(MD[0-9]{3}\)|evaluat")
NO_FIELD = "<nil>"
"""Field of the cause that says that cross-field rules were not judged."""


async def installed(client: Client) -> None:
    """Have our kinds served."""
    from modeldeployment.lab.flavors.installing import install_kinds  # not at hand where the package stands alone

    await install_kinds(client)


def place(body: dict[str, Any], namespace: str) -> tuple[str, dict[str, Any]]:
    """Where objects of this kind are created in the namespace, and the object as it is sent there."""
    kind = structure.KINDS[body["kind"]]
    scope, into = (f"namespaces/{namespace}/", namespace) if kind.namespaced else ("", GONE)
    return f"/apis/worker.gpustack.ai/v1/{scope}{kind.plural}", changed(body, {"metadata.namespace": into})


async def refused_at(client: Client, method: str, target: str, body: dict[str, Any]) -> set[str] | None:
    """The fields at which the API server refuses a write; empty where it names none, None where it lets it in."""
    strict = f"{target}?dryRun=All&fieldValidation=Strict"
    try:
        await client.raw(Request(method, strict, json.dumps(body).encode()))
    except Invalid as refusal:
        fields = {cause.field for cause in refusal.details.causes} - {NO_FIELD}
        return fields | set(UNKNOWN.findall(refusal.message))
    return None


async def test_the_api_server_refuses_the_same_objects_at_the_same_fields(kube_client: Client, namespace: str) -> None:
    await installed(kube_client)
    differing = []
    for case in CASES:
        if case.refused and case.refused[0] == "MD909":
            continue  # there is no address to send it to
        target, body = place(case.body, namespace)
        found = await refused_at(kube_client, "POST", target, body)
        ours = {each.field for each in violations(case.body)}
        if (found is not None) != bool(ours) or (found and found != ours):
            differing.append((case.id, ours, found))
    assert differing == [], "\n".join(str(each) for each in differing)


async def test_the_api_server_holds_the_cross_field_rules_of_the_other_kinds_alike(
    kube_client: Client, namespace: str
) -> None:
    await installed(kube_client)
    for row in others.RULES:
        for example in (row.trigger, row.near_miss):
            new, old = example.objects()
            ours = {each.field for each in others.refusals(defaulted(new), old and defaulted(old))}
            assert violations(new) == ()
            assert bool(ours) == (example is row.trigger), row.code
            assert await answered(kube_client, namespace, new, old) == (ours or None), row.code


async def answered(client: Client, namespace: str, new: dict[str, Any], old: dict[str, Any] | None) -> set[str] | None:
    """The fields at which the API server refuses a create, or where `old` is given its update, as `refused_at`."""
    target, body = place(changed(new, {"metadata.name": namespace}), namespace)
    if old is None:
        return await refused_at(client, "POST", target, body)
    _, stored = place(changed(old, {"metadata.name": namespace}), namespace)
    made = json.loads(await client.raw(Request("POST", target, json.dumps(stored).encode())))
    version = patching.found(made, "metadata.resourceVersion")
    try:
        edited = changed(body, {"metadata.resourceVersion": version})
        return await refused_at(client, "PUT", f"{target}/{namespace}", edited)
    finally:
        await client.raw(Request("DELETE", f"{target}/{namespace}"))


ODD: tuple[Any, ...] = (
    *(None, True, 0, 1, -1, 1.5, 2.0, 2**31, 2**63, 2**64, 1e30),
    *("", "x", "A", "a-b", "1", "-1", "1.5", "10Gi", "true", "a" * 300, "é" * 64, "a\n", "/x", "-"),
    *([], [None], ["x"], [1], [{}], [[]], [{"name": "a"}, {"name": "a"}], {}, {"a": 1}, {"name": "x"}, {"name": None}),
)
"""Values that few fields take, and each some."""


def fields(node: Node, at: str) -> Iterator[str]:
    """Every field path below a node of a schema; of lists the first entry."""
    for name, child in node.get("properties", {}).items():
        yield f"{at}.{name}"
        yield from fields(child, f"{at}.{name}")
    if "items" in node:
        yield f"{at}[0]"
        yield from fields(node["items"], f"{at}[0]")


@pytest.mark.parametrize("kind", VALID)
async def test_the_api_server_gives_the_same_verdict_on_odd_values_anywhere(
    kind: str, kube_client: Client, namespace: str
) -> None:
    await installed(kube_client)
    found = structure.of(kind)
    assert found is not None
    places, chance, differing = tuple(fields(found.node["properties"]["spec"], "spec")), random.Random(kind), []
    for _ in range(100):
        at, value = chance.choice(places), chance.choice(ODD)
        body = changed(VALID[kind], {at: value})
        ours = violations(body)
        theirs = await refusing(kube_client, *place(body, namespace))
        if bool(ours) != bool(theirs) and not (theirs and all(CROSS_FIELD.search(each) for each in theirs)):
            differing.append((at, value, ours, theirs))
    assert differing == [], "\n".join(str(each) for each in differing)


async def refusing(client: Client, target: str, body: dict[str, Any]) -> list[str]:
    """What the API server holds against a create, each cause in its words."""
    try:
        await client.raw(Request("POST", f"{target}?dryRun=All&fieldValidation=Strict", json.dumps(body).encode()))
    except Invalid as refusal:
        causes = [cause.message for cause in refusal.details.causes if cause.field != NO_FIELD]
        return causes or [refusal.message]
    return []
