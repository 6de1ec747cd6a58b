"""What routers select, against the Pods they select from (facts router-rendering R29)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import yaml
from conformance_documents import ROUTERS, router_of
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render import Seat, render
from render_worlds import deployment, facts, joined, role

Shape = tuple[tuple[str, int, int], ...]
"""Kind, replicas and size of each role."""


def declared(router: str, engine: str, shape: Shape) -> ModelDeployment:
    roles = [role(kind.lower(), kind=kind, replicas=replicas, size=size) for kind, replicas, size in shape]
    return deployment(*roles, engine=engine, spec=joined(router=router))


def pods(of: ModelDeployment) -> dict[tuple[str, int, int], Mapping[str, str]]:
    """The labels of every Pod by role, ordinal and member; the last is the router's own."""
    found = {
        (each.name, seat.ordinal, seat.member): each.template.pod(seat)["metadata"]["labels"]
        for each in render(of, facts()).roles
        for seat in each.seats()
    }
    (workload,) = (each for each in router_of(of).objects if each["kind"] == "Deployment")
    return found | {("router", 0, 0): workload["spec"]["template"]["metadata"]["labels"]}


def matches(terms: Sequence[str], labels: Mapping[str, str]) -> bool:
    return all(_holds(term, labels) for term in terms)


def _holds(term: str, labels: Mapping[str, str]) -> bool:
    if term.startswith("!"):
        return term[1:] not in labels
    if "!=" in term:
        key, value = term.split("!=")
        return labels.get(key) != value
    key, value = term.split("=")
    return labels.get(key) == value


def selectors(of: ModelDeployment) -> dict[str, list[str]]:
    """The terms of every selector on the command line or in the ConfigMap, by its flag or key."""
    rendering = router_of(of)
    found: dict[str, list[str]] = {}
    for each in rendering.objects:
        if each["kind"] == "ConfigMap":
            found["endpoint-selector"] = each["data"]["endpoint-selector"].split(",")
    for run in rendering.runs:
        flag = run.tokens[0]
        if flag.endswith("selector"):
            found[flag] = list(run.tokens[1:])
    return found


def selected(of: ModelDeployment) -> dict[str, list[tuple[str, int, int]]]:
    return {
        flag: [seat for seat, labels in pods(of).items() if matches(terms, labels)]
        for flag, terms in selectors(of).items()
    }


SERVERS: Shape = (("Server", 2, 1),)
GROUPS: Shape = (("Server", 2, 4),)
HALVES: Shape = (("Prefill", 2, 1), ("Decode", 1, 4))


@pytest.mark.parametrize(("router", "engine"), ROUTERS)
@pytest.mark.parametrize("shape", [SERVERS, GROUPS], ids=["size-1", "size-4"])
def test_exactly_the_leader_of_every_replica_is_selected(router: str, engine: str, shape: Shape) -> None:
    for found in selected(declared(router, engine, shape)).values():
        assert found == [("server", 0, 0), ("server", 1, 0)]


@pytest.mark.parametrize(("router", "engine"), ROUTERS)
def test_each_half_is_selected_apart_where_a_router_asks_for_halves(router: str, engine: str) -> None:
    prefill, decode = [("prefill", 0, 0), ("prefill", 1, 0)], [("decode", 0, 0)]
    found = selected(declared(router, engine, HALVES))
    if router == "llm-d-router":
        assert found == {"endpoint-selector": prefill + decode}
    else:
        assert found == {"--prefill-selector": prefill, "--decode-selector": decode}


ENCODED: Shape = (("Prefill", 1, 1), ("Decode", 1, 1), ("Encode", 2, 1))


def test_beside_encoders_the_picker_knows_every_pod_and_its_filters_tell_kinds_and_retired_replicas_apart() -> None:
    of = declared("llm-d-router", "vLLM", ENCODED)
    every = [("prefill", 0, 0), ("decode", 0, 0), ("encode", 0, 0), ("encode", 1, 0)]
    assert selected(of) == {"endpoint-selector": every}
    assert {name: filtered(of, name, retired=False) for name in ("prefill-pods", "decode-pods", "encode-pods")} == {
        "prefill-pods": [("prefill", 0, 0)],
        "decode-pods": [("decode", 0, 0)],
        "encode-pods": [("encode", 0, 0), ("encode", 1, 0)],
    }
    assert filtered(of, "prefill-pods", retired=True) == []


def filtered(of: ModelDeployment, name: str, *, retired: bool) -> list[tuple[str, int, int]]:
    """The Pods that a filter of the picker lets through; those of retired replicas have lost their eligibility."""
    wanted: dict[str, Any] = _filters(of)[name]
    found = []
    for seat, labels in pods(of).items():
        carried = {key: value for key, value in labels.items() if not (retired and key.endswith("/endpoint-eligible"))}
        if wanted.items() <= carried.items():
            found.append(seat)
    return found


def _filters(of: ModelDeployment) -> dict[str, dict[str, Any]]:
    (config,) = (each for each in router_of(of).objects if each["kind"] == "ConfigMap")
    plugins = yaml.safe_load(config["data"]["epp.yaml"])["plugins"]
    return {
        each["name"]: each["parameters"]["matchLabels"] for each in plugins if each["type"] == "label-selector-filter"
    }


@pytest.mark.parametrize(("router", "engine"), [each for each in ROUTERS if each[1] == "SGLang"])
def test_no_router_selects_encoders_that_the_engine_finds_itself(router: str, engine: str) -> None:
    found = selected(declared(router, engine, ENCODED))
    assert found
    assert not any(seat[0] == "encode" for seats in found.values() for seat in seats)


@pytest.mark.parametrize(("router", "engine"), ROUTERS)
def test_scaling_a_role_leaves_every_object_of_the_router_as_it_is(router: str, engine: str) -> None:  # R13
    small = declared(router, engine, (("Prefill", 1, 1), ("Decode", 1, 1)))
    large = declared(router, engine, (("Prefill", 9, 1), ("Decode", 4, 1)))
    assert router_of(small) == router_of(large)
    assert Seat(8, 0) in list(render(large, facts()).roles[0].seats())
