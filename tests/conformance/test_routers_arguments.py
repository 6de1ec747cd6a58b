"""Rendered router command lines, judged by the routers' own parsers. Source: facts router-rendering §5 and §6."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Final, Protocol

import pytest
from conformance_routers import EACH, halves, servers
from modeldeployment.api.choices import RouterName
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.lab.pytest_plugin import ObtainProgram
from modeldeployment.lab.routers import container_of, entry
from modeldeployment.render import RouterRendering, render
from modeldeployment.router import ROUTERS
from render_worlds import deployment, facts, joined, role

MODULES: Final = {"vllm-router": "vllm_router", "sglang-router": "sglang_router"}
"""Where each packaged program has its parser."""
PARSE: Final = """
import contextlib, importlib, io, json, sys
parse = importlib.import_module(sys.argv[1] + ".launch_router").parse_router_args
for line in sys.stdin:
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            answer = {"parsed": vars(parse(json.loads(line)))}
    except SystemExit:
        answer = {"refused": said.getvalue()}
    print(json.dumps(answer, default=str), flush=True)
"""


class Parse(Protocol):
    """Has a router's own parser read a command line."""

    def __call__(self, container: dict[str, Any], *more: str) -> dict[str, Any]:
        """What it makes of a container's arguments and `more`; AssertionError with its words if it refuses."""


@pytest.fixture(scope="module")
def parse(program: ObtainProgram) -> Iterator[Parse]:
    """The parsers, each in one process for all tests, as their imports take longer than anything else here."""
    with ExitStack() as running:
        parsers: dict[str, subprocess.Popen[str]] = {}

        def one(container: dict[str, Any], *more: str) -> dict[str, Any]:
            installed = program(entry(container).program)
            if installed.name not in parsers:
                command = [str(installed.python), "-c", PARSE, MODULES[installed.name]]
                started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                parsers[installed.name] = running.enter_context(started)
            parser = parsers[installed.name]
            assert parser.stdin is not None
            assert parser.stdout is not None
            parser.stdin.write(json.dumps([*container["args"], *more]) + "\n")
            parser.stdin.flush()
            answer: dict[str, dict[str, Any]] = json.loads(parser.stdout.readline())
            assert "parsed" in answer, answer["refused"]
            return answer["parsed"]

        yield one


def rendered(of: ModelDeployment) -> tuple[RouterRendering, dict[str, Any]]:
    """What is rendered for a deployment's router, and the container of its program."""
    router = render(of, facts()).router
    assert isinstance(router, RouterRendering), router
    return router, dict(container_of(router.objects))


@EACH
def test_a_command_line_for_servers_is_read_as_it_is_meant(parse: Parse, engine: str, router: str) -> None:
    objects, container = rendered(servers(engine, router))
    parsed = parse(container)
    assert (parsed["host"], parsed["port"]) == ("0.0.0.0", 8081)
    assert (parsed["prometheus_host"], parsed["prometheus_port"]) == ("0.0.0.0", 9090)
    assert parsed["service_discovery"] is True
    assert (parsed["service_discovery_namespace"], parsed["service_discovery_port"]) == ("team-a", 8000)
    (fronted,) = objects.contract.roles
    assert parsed["selector"].items() <= fronted.selector.items()
    assert len(parsed["selector"]) == 3
    assert (parsed["prefill_selector"], parsed["decode_selector"]) == ({}, {})
    assert parsed["policy"] == "cache_aware"


@EACH
def test_a_command_line_for_a_pair_selects_what_status_publishes(parse: Parse, engine: str, router: str) -> None:
    objects, container = rendered(halves(engine, router))
    parsed = parse(container)
    published = {fronted.kind: dict(fronted.selector) for fronted in objects.contract.roles}
    assert (parsed["prefill_selector"], parsed["decode_selector"]) == (published["Prefill"], published["Decode"])
    assert parsed["selector"] == {}
    assert parsed.get("vllm_pd_disaggregation") or parsed.get("pd_disaggregation")


def test_vllm_router_is_told_of_mooncake_and_not_to_wait_long_for_one_pod(parse: Parse) -> None:
    _, container = rendered(halves("vLLM", "vllm-router"))
    parsed = parse(container)
    assert (parsed["kv_connector"], parsed["worker_startup_timeout_secs"]) == ("mooncake", 10)


@EACH
def test_what_the_user_adds_is_read_after_everything_derived(parse: Parse, engine: str, router: str) -> None:
    arguments = ("--policy=round_robin", "--worker-startup-timeout-secs", "77", "--request-timeout-secs=120")
    _, container = rendered(servers(engine, router, *arguments))
    parsed = parse(container)
    assert (parsed["policy"], parsed["worker_startup_timeout_secs"], parsed["request_timeout_secs"]) == (
        "round_robin",
        77,
        120,
    )
    assert len(parsed["selector"]) == 3


@EACH
def test_a_request_timeout_is_read_in_seconds(parse: Parse, engine: str, router: str) -> None:
    spec = {"router": {"name": router, "requestTimeoutSeconds": 120}}
    _, container = rendered(deployment(engine=engine, spec=spec))
    assert parse(container)["request_timeout_secs"] == 120


@EACH
def test_every_owned_flag_is_known_to_the_program_but_the_one_its_wheel_lacks(
    program: ObtainProgram, engine: str, router: str
) -> None:
    _, container = rendered(servers(engine, router))
    installed, words = program(entry(container).program), entry(container).words
    command = [str(installed.executable(words[0])), *words[1:], "--help"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    known = {word.strip("[],") for word in told.split()}
    assert ROUTERS[RouterName(router)].owned_arguments - known == ({"--epd-config"} if engine == "vLLM" else set())


@EACH
def test_an_unknown_flag_is_refused(parse: Parse, engine: str, router: str) -> None:
    _, container = rendered(servers(engine, router))
    with pytest.raises(AssertionError, match="unrecognized arguments: --no-such-flag"):
        parse(container, "--no-such-flag")


def test_the_wheel_of_vllm_router_refuses_the_command_line_beside_an_encode_role(parse: Parse) -> None:
    roles = [role(kind.lower(), kind=kind) for kind in ("Encode", "Prefill", "Decode")]
    _, container = rendered(deployment(*roles, spec=joined(router="vllm-router")))
    with pytest.raises(AssertionError, match="unrecognized arguments: --epd-config"):
        parse(container)
