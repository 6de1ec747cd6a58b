"""Which Pods are processes of a router, and what is known of each before it is asked."""

from typing import Any

import pytest
from modeldeployment.api import RouterName
from modeldeployment.reconcile import processes
from modeldeployment.reconcile.processes import Process
from reconcile_witness import ApiServer, Peer, router_pod, text

HERE = Peer("10.0.0.7", text(""))


async def found(*pods: dict[str, Any], router: RouterName = RouterName.VLLM) -> tuple[Process, ...]:
    client = ApiServer()
    client.pods = list(pods)
    return await processes.of(client, "team", "chat", router)


async def test_a_process_is_known_by_its_pod_and_how_often_it_was_started() -> None:
    (first,) = await found(router_pod(HERE))
    (again,) = await found(router_pod(HERE, restarts=1))
    assert (first.identity, again.identity) == (("uid-chat-router-5d-a", 0), ("uid-chat-router-5d-a", 1))
    assert (first.address, first.version, first.running, first.leaving) == ("10.0.0.7", "0.1.17", True, False)
    assert str(first) == "router Pod chat-router-5d-a (vllm-router 0.1.17)"


async def test_a_pod_that_no_replica_set_of_the_router_owns_is_none() -> None:
    ownerless = router_pod(HERE)
    ownerless["metadata"]["ownerReferences"] = []
    assert await found(router_pod(HERE, owner="another-router-5d"), router_pod(HERE, owner="chat-5d"), ownerless) == ()


@pytest.mark.parametrize(("phase", "running"), [("Running", True), ("Pending", False), ("Unknown", True)])
async def test_a_process_that_does_not_run_yet_is_known_as_such(phase: str, running: bool) -> None:
    (process,) = await found(router_pod(HERE, phase=phase))
    assert process.running is running
    assert await found(router_pod(HERE, phase="Succeeded")) == ()


async def test_what_a_process_was_started_with_is_read_from_its_own_arguments() -> None:
    (process,) = await found(router_pod(HERE, args=["--vllm-pd-disaggregation", "--api-key=x"]))
    assert (process.paired, process.key) == (True, None)
    pod = router_pod(HERE, router=RouterName.SGLANG, args=["--pd-disaggregation", "--api-key", "secret"])
    (gateway,) = await found(pod, router=RouterName.SGLANG)
    assert (gateway.paired, gateway.key) == (True, "secret")
    assert "secret" not in repr(gateway)


async def test_a_picker_is_the_container_of_its_pod_that_picks() -> None:
    pod = router_pod(HERE, router=RouterName.LLM_D, image="envoy:1")
    pod["spec"]["containers"] = [
        {"name": "envoy", "image": "envoyproxy/envoy:v1.33.2"},
        {"name": "epp", "image": "gpustack/llm-router:v0.1.0"},
    ]
    (process,) = await found(pod, router=RouterName.LLM_D)
    assert process.version == "0.10.0"
    assert process.program is not None


async def test_a_pod_without_a_routing_program_has_no_version() -> None:
    pod = router_pod(HERE)
    pod["spec"]["containers"] = []
    (process,) = await found(pod)
    assert (process.version, process.program) == ("", None)
