from pathlib import Path
from typing import Any

import pytest
from modeldeployment.lab.routers import CommandUnknown, Listening, command_line, container_of, entry

HERE = Path("/opt/router")
ARGUMENTS = ["--host=0.0.0.0", "--port=8081", "--prometheus-host=0.0.0.0", "--prometheus-port=9090"]
AT = Listening(port=21001, metrics=21002)


def container(command: str = "vllm-router", *more: str, args: list[str] | None = None) -> dict[str, Any]:
    return {"name": "router", "command": [command], "args": [*(ARGUMENTS if args is None else args), *more]}


def test_only_the_four_addresses_are_replaced() -> None:
    rendered = container("vllm-router", "--service-discovery", "--selector", "a/b=c", "--policy=random")
    assert command_line(rendered, HERE, AT) == [
        "/opt/router/bin/vllm-router",
        "--host=127.0.0.1",
        "--port=21001",
        "--prometheus-host=127.0.0.1",
        "--prometheus-port=21002",
        "--service-discovery",
        "--selector",
        "a/b=c",
        "--policy=random",
    ]


def test_the_gateway_is_run_by_what_its_wheel_installs() -> None:
    line = command_line(container("sgl-model-gateway"), HERE, AT)
    assert line[:3] == ["/opt/router/bin/sglang-router", "launch", "--host=127.0.0.1"]
    assert entry(container("sgl-model-gateway")).program == "sglang-router"


def test_a_command_nobody_knows_is_refused() -> None:
    with pytest.raises(CommandUnknown, match=r"\['epp'\] is none of"):
        command_line(container("epp"), HERE, AT)


@pytest.mark.parametrize("flag", ["--host", "--port", "--prometheus-host", "--prometheus-port"])
def test_a_program_that_would_listen_elsewhere_is_refused(flag: str) -> None:
    left = [argument for argument in ARGUMENTS if not argument.startswith(f"{flag}=")]
    with pytest.raises(CommandUnknown, match=f"{flag}=… is given 0 times"):
        command_line(container(args=left), HERE, AT)
    with pytest.raises(CommandUnknown, match=f"{flag}=… is given 2 times"):
        command_line(container("vllm-router", f"{flag}=1"), HERE, AT)


def test_the_routing_program_is_found_among_rendered_objects() -> None:
    pod = {"spec": {"containers": [{"name": "other"}, container()]}}
    objects: list[dict[str, Any]] = [{"kind": "Service"}, {"kind": "Deployment", "spec": {"template": pod}}]
    assert container_of(objects) == container()
    with pytest.raises(CommandUnknown, match="no Deployment has a container 'router'"):
        container_of(objects[:1])
