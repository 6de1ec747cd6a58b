"""What is read of a Pod, and what is reported of it."""

from typing import Any

import pytest
from modeldeployment.api import keys
from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines import Half, Transfer
from modeldeployment.lab.serving.hooks import hook
from modeldeployment.lab.serving.pods import RunsEngine, RunsPicker, RunsRouter, RunsSilently, grace, runs
from modeldeployment.lab.serving.reports import Report, ended, running

NOW = "2030-01-01T00:00:00Z"
LATER = "2030-01-01T00:01:00Z"


def pod(*containers: dict[str, Any], labels: dict[str, str] | None = None, **annotations: str) -> dict[str, Any]:
    """A Pod of these containers; `annotations` are those of its scrape by their last part."""
    return {
        "metadata": {
            "name": "one",
            "uid": "u",
            "labels": labels or {},
            "annotations": {f"prometheus.io/{key}": value for key, value in annotations.items()},
        },
        "spec": {"containers": list(containers), "terminationGracePeriodSeconds": 30},
    }


def engine(*command: str, ports: tuple[int, ...] = (8000,), **more: Any) -> dict[str, Any]:
    return {
        "name": "main",
        "image": "i",
        "command": list(command),
        "ports": [{"containerPort": p} for p in ports],
        **more,
    }


def test_a_vllm_server_is_read_from_its_command_and_its_ports() -> None:
    found = runs(pod(engine("vllm", "serve", "Qwen/Qwen2.5"), port="8000"))
    assert found == RunsEngine(EngineName.VLLM, (8000,), "Qwen/Qwen2.5", Half.UNIFIED, Transfer.NONE)


def test_the_port_of_the_scrape_comes_first() -> None:
    found = runs(pod(engine("vllm", "serve", "m", ports=(8000, 8998)), port="9100"))
    assert isinstance(found, RunsEngine)
    assert found.ports == (9100, 8000, 8998)


def test_an_sglang_half_says_which_it_is_and_what_it_serves() -> None:
    command = ("python3", "-m", "sglang.launch_server", "--model-path", "m", "--disaggregation-mode", "decode")
    found = runs(pod(engine(*command), port="8000"))
    assert found == RunsEngine(EngineName.SGLANG, (8000,), "m", Half.DECODE, Transfer.NONE)
    named = runs(pod(engine(*command, "--served-model-name=other")))
    assert isinstance(named, RunsEngine)
    assert named.served == "other"


@pytest.mark.parametrize(
    ("document", "transfer"),
    [
        ('{"kv_connector": "NixlConnector"}', Transfer.NIXL),
        ('{"kv_connector": "MooncakeConnector"}', Transfer.MOONCAKE),
        ("{", Transfer.NONE),
        ("[]", Transfer.NONE),
    ],
)
def test_a_vllm_half_says_how_it_hands_blocks_over(document: str, transfer: Transfer) -> None:
    found = runs(pod(engine("vllm", "serve", "m", "--kv-transfer-config", document)))
    assert isinstance(found, RunsEngine)
    assert found.transfer is transfer


def test_only_the_leader_answers() -> None:
    member = {"modeldeployment.gpustack.ai/member-index": "1"}
    assert runs(pod(engine("vllm", "serve", "m"), labels=member)) == RunsSilently()
    leader = {"modeldeployment.gpustack.ai/member-index": "0"}
    assert isinstance(runs(pod(engine("vllm", "serve", "m"), labels=leader)), RunsEngine)


def test_a_router_of_one_program_is_run_and_another_is_not() -> None:
    labels = {"modeldeployment.gpustack.ai/router": "vllm-router"}
    probe = {"httpGet": {"path": "/readiness", "port": 8081}}
    container = {"name": "router", "image": "i", "command": ["vllm-router"], "readinessProbe": probe}
    assert runs(pod(container, labels=labels)) == RunsRouter(container, "default", "/readiness")
    assert runs(pod({"name": "epp", "image": "i"}, labels=labels)) == RunsSilently()


def test_a_hook_asks_the_pod_where_it_would_ask_itself() -> None:
    command = ["python3", "-c", "print()", "5", "http://127.0.0.1:8000/metrics"]
    held = engine("vllm", lifecycle={"preStop": {"exec": {"command": command}}})
    assert hook(pod(held), "127.1.2.3") == ["python3", "-c", "print()", "5", "http://127.1.2.3:8000/metrics"]
    assert hook(pod(engine("vllm")), "127.1.2.3") is None


def test_a_pod_has_the_grace_it_was_deleted_with() -> None:
    leaving = pod(engine("vllm"))
    assert grace(leaving) == 30
    leaving["metadata"]["deletionGracePeriodSeconds"] = 0
    assert grace(leaving) == 0


def test_a_running_pod_reports_where_it_is_whether_it_is_ready_and_how_often_it_restarted() -> None:
    one = pod(engine("vllm"))
    one["status"] = {"conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": NOW}]}
    told = running(one, Report("127.1.2.3", NOW, restarts=2, ready=True), NOW)["status"]
    assert (told["phase"], told["podIP"], told["podIPs"]) == ("Running", "127.1.2.3", [{"ip": "127.1.2.3"}])
    assert {each["type"]: each["status"] for each in told["conditions"]} == dict.fromkeys(
        ("PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"), "True"
    )
    (container,) = told["containerStatuses"]
    assert (container["containerID"], container["restartCount"]) == ("lab://u/main/2", 2)


def test_the_proxy_beside_a_picker_runs_on_while_that_starts_anew() -> None:
    one = pod({"name": "envoy", "image": "e"}, {"name": "epp", "image": "p"})
    told = running(one, Report("127.1.2.3", NOW, restarts=1), NOW)["status"]
    assert {each["name"]: each["restartCount"] for each in told["containerStatuses"]} == {"envoy": 0, "epp": 1}


def test_a_condition_keeps_its_time_until_it_changes() -> None:
    one = pod(engine("vllm"))
    one["status"] = running(one, Report("127.1.2.3", NOW), NOW)["status"]
    told = running(one, Report("127.1.2.3", NOW, ready=True), LATER)["status"]
    times = {each["type"]: each["lastTransitionTime"] for each in told["conditions"]}
    assert (times["Initialized"], times["Ready"]) == (NOW, LATER)


def test_an_ended_pod_reports_that_its_containers_have_ended() -> None:
    one = pod(engine("vllm"))
    told = ended(one, Report("127.1.2.3", NOW), 143, LATER)["status"]
    assert told["phase"] == "Failed"
    assert told["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 143


def test_a_router_of_two_programs_says_where_its_documents_are_and_whom_it_finds_pods_as() -> None:
    found = pod({"name": "envoy"}, {"name": "epp"}, labels={keys.ROUTER: "llm-d-router"})
    found["spec"] |= {"serviceAccountName": "chat-router", "volumes": [{"configMap": {"name": "chat-router"}}]}
    assert runs(found) == RunsPicker({"name": "envoy"}, {"name": "epp"}, "chat-router", "chat-router")


@pytest.mark.parametrize("where", ["initContainers", "containers"])
def test_a_decoder_knows_the_routing_proxy_before_it(where: str) -> None:
    proxy = {"name": "routing-proxy", "args": ["--port=8000"]}
    found = pod(engine("vllm", "serve", "m", ports=(8200,)), port="8200")
    found["spec"][where] = [*found["spec"].get(where, ()), proxy]
    read = runs(found)
    assert isinstance(read, RunsEngine)
    assert (read.ports, read.proxied) == ((8200,), proxy)
