"""Engine arguments and variables that do something else than their owner expects."""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.examples import GONE, Example
from modeldeployment.admission.lints.cautioning import lint
from modeldeployment.admission.lints.seen import starts_shell
from modeldeployment.admission.patching import put, remove
from modeldeployment.admission.rule import Row
from modeldeployment.admission.subjects import DeploymentReview, RoleReview
from modeldeployment.admission.verdict import Caution, brief
from modeldeployment.api.choices import EngineName
from modeldeployment.render import DEFAULT_PORT

API_KEY: Final = "--api-key"
API_KEY_VARIABLE: Final = "VLLM_API_KEY"

_CONFIG: Final = "--config"
_ADDITIONAL_CONFIG: Final = "--additional-config"


@lint(
    trigger=Example({"spec.roles[0].extraArgs": ["--port", "9000"]}),
    near_miss=Example({"spec.roles[0].extraArgs": ["--port", "9000"], "spec.roles[0].ports": [{"port": 9000}]}),
)
def port_moved_by_argument(review: DeploymentReview) -> Iterator[Caution]:
    """MDW11 | spec.roles[*].extraArgs | An engine moved by its own `--port` leaves the address callers use behind.

    With no `ports` declared, the container port, the probes and the drain follow the engine's own `--port`; the Service
    and `status.endpoint` stay on 8000, so that callers keep their address, and whoever dials a Pod on 8000 finds
    nothing. Where the number cannot be read, as in `--port $(PORT)`, probes and drain ask port 8000: the replica never
    becomes Ready, and one that leaves gets the first 5 seconds of its drain only.

    Way out: declare the port as the first of the role's `ports`; the operator passes it to the engine.

    Source: spec 1 §Operating notes, facts shutdown §1.
    """
    for each in review.roles:
        flag = each.engine.listen.port
        if each.role.ports or not each.role.managed or flag not in each.given or review.proxied(each):
            continue
        found = each.listener
        if found.engine_port == DEFAULT_PORT and each.given[flag] == str(DEFAULT_PORT):
            continue
        unread = found.engine_port == DEFAULT_PORT
        ports = f"{each.path}.ports"
        yield Caution(
            "MDW11",
            each.stream_path,
            each.given[flag],
            why=f"no port can be read from {flag} {brief(each.given[flag] or 'nothing')}, so probes and drain ask "
            f"{DEFAULT_PORT} and find nobody there"
            if unread
            else f"{flag} moves engine, probes and drain to {found.engine_port}, while the Service and status.endpoint "
            f"stay on {DEFAULT_PORT}",
            way_out=f"drop the flag and declare the port in {ports}",
            patch=() if unread else (put(ports, [{"port": found.engine_port}]),),
        )


@lint(
    trigger=Example({"spec.roles[0].extraArgs": ["--host", "127.0.0.1"]}),
    near_miss=Example({"spec.roles[0].extraArgs": ["--hf-overrides", "{}"]}),
)
def probes_withdrawn(review: DeploymentReview) -> Iterator[Caution]:
    """MDW12 | spec.roles[*].extraArgs | An engine with a `--host` of its own runs without probes.

    The operator tells an engine to listen on every address, and asks it for startup, readiness and liveness there. A
    role that passes its own `--host`, whatever the value, is asked nothing: its replicas count as ready while they load
    their weights, get requests, and are not restarted when they hang. A decoder behind `llm-d-router` is asked through
    its proxy, and keeps its probes.

    Way out: drop the flag.

    Source: facts rendering §7.
    """
    for each in review.roles:
        flag = each.engine.listen.host
        if each.role.managed and flag in each.given and not review.proxied(each):
            yield Caution(
                "MDW12",
                each.stream_path,
                each.given[flag],
                why=f"a {flag} of its own leaves the engine without probes: its replicas count as ready before the "
                "weights are loaded, and a hung one stays",
                way_out=f"drop {flag}; the operator binds every address",
            )


@lint(
    trigger=Example({"spec.roles[0].extraArgs": ["--api_key=sk-1"]}),
    near_miss=Example({"spec.roles[0].env": [{"name": "OPENAI_API_KEY", "value": "sk-1"}]}),
)
def engine_authenticates(review: DeploymentReview) -> Iterator[Caution]:
    """MDW13 | spec.roles[*] | An engine that asks for a key also asks the router and the probes, which have none.

    vLLM then guards its `/v1` routes. The probes of a Decode role behind `llm-d-router` read `/v1/models`, get 401, and
    the replica never becomes Ready. A router's own calls, the counting of tokens among them, get 401 as well, and so
    does whoever reaches the role without the key. On SGLang a router's reads of the engine are refused the same way.

    Way out: authenticate at the gateway in front of the deployment; inside the cluster the engine asks for nothing.

    Source: spec 1 §The three override tiers.
    """
    for each in review.roles:
        if not each.role.managed or not (review.router or review.engine.name is EngineName.VLLM):
            continue
        field, named = each.stream_path, API_KEY
        if API_KEY not in each.given:
            if review.engine.name is not EngineName.VLLM:
                continue
            names = [entry.name for entry in each.role.env]
            if API_KEY_VARIABLE not in names:
                continue
            field, named = f"{each.path}.env[{names.index(API_KEY_VARIABLE)}]", API_KEY_VARIABLE
        yield Caution(
            "MDW13",
            field,
            None,
            why=f"{named} makes the engine answer 401 to whoever has no key, "
            + (
                "the probes of this Decode role among them, so that it never becomes Ready"
                if review.proxied(each) and review.engine.name is EngineName.VLLM
                else "routers and other callers inside the cluster among them"
            ),
            way_out="drop it and authenticate at the gateway in front of the deployment",
        )


@lint(
    trigger=Example({"spec.roles[0].extraArgs": ["--config", "/etc/vllm.yaml"]}),
    near_miss=Example({"spec.roles[0].extraArgs": ["--data-parallel-rank", "$(GPUSTACK_MEMBER_INDEX)"]}),
)
def degrees_unreadable(review: DeploymentReview) -> Iterator[Caution]:
    """MDW14 | spec.roles[*] | Parallel degrees that do not stand on the command line are not seen.

    The operator reads degrees from the arguments of a role and from nowhere else: not from a `--config` file, a shell's
    text, `--additional-config`, or a whole argument that a variable stands for. Such a role counts as one process on
    one card: its width is not checked against its cards, and a pair on Ascend is told `1/1` and may pull a wrong layout
    without an error. `$(NAME)` as the value of a flag is fine where the flag is no degree; `$NAME` is expanded by
    nobody.

    Way out: spell the degrees out as arguments, one per entry.

    Source: spec 2 §Pair connections.
    """
    for each in review.roles:
        if hidden := _hidden(each):
            field, where = hidden
            yield Caution(
                "MDW14",
                field,
                None,
                why=f"parallel degrees are read from arguments alone; what stands in {where} is not seen, and the role "
                "counts as one process on one card",
                way_out="write each degree as an argument of its own",
            )


def _hidden(each: RoleReview) -> tuple[str, str] | None:
    """Where a role may keep degrees that cannot be read: a field path, and words for it."""
    if starts_shell(each):
        return f"{each.path}.command", "a shell's text"
    if _CONFIG in each.given:
        return each.stream_path, f"the file of {_CONFIG}"
    if "parallel_size" in (each.given.get(_ADDITIONAL_CONFIG) or ""):
        return each.stream_path, _ADDITIONAL_CONFIG
    for index, argument in enumerate(each.stream):
        if argument.startswith("$") and not argument.startswith("$$") and not _takes_value(each.stream, index):
            return f"{each.stream_path}[{index}]", f"the variable {brief(argument)}"
    return None


@lint(
    trigger=Example({"spec.roles[0].extraArgs": ["--max-model-len=32768", "--"]}),
    near_miss=Example({"spec.kvCache": GONE, "spec.roles[0].command": ["vllm", "serve", "m", "--"]}),
)
def options_ended(review: DeploymentReview) -> Iterator[Caution]:
    """MDW28 | spec.roles[*].extraArgs | After a bare `--` nothing is an option, the operator's host and port included.

    The operator appends where the engine listens after the role's own arguments. Behind a bare `--` the engine takes
    those for positional arguments, knows none of them, and stops at its start.

    Way out: leave the `--` out.

    Source: facts rendering §3 and §9.
    """
    for each in review.roles:
        if each.role.managed and "--" in each.role.extra_args:
            at = f"{each.path}.extraArgs[{each.role.extra_args.index('--')}]"
            yield Caution(
                "MDW28",
                at,
                "--",
                why="it ends the options, and the operator's own after it, such as where the engine listens, are then "
                "arguments that the engine does not know",
                way_out="remove it",
                patch=(remove(at),),
            )


def _takes_value(stream: tuple[str, ...], index: int) -> bool:
    """Whether the argument before this one is a flag that this one may be the value of."""
    before = stream[index - 1] if index else ""
    return before.startswith("-") and "=" not in before


LINTS: Final[tuple[Row[Any, Any], ...]] = (
    port_moved_by_argument,
    probes_withdrawn,
    engine_authenticates,
    degrees_unreadable,
    options_ended,
)
