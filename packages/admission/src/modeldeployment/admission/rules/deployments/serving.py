"""Where a role listens and under which name it serves.

Source: facts admission §4 rows 21, 27 and 29 to 31, §7 and §8, facts rendering §7.
"""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission import arguments, patching
from modeldeployment.admission.examples import Example
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import DeploymentReview, RoleReview
from modeldeployment.admission.verdict import Cause, Refusal, brief
from modeldeployment.api import ModelDeployment, Role, RoleKind
from modeldeployment.render import ENGINES, SERVED_MODEL_NAME, Listener, listener, reserved_ports

_PORTS: Final = "spec.roles[0].ports"
_ARGUMENTS: Final = "spec.roles[0].extraArgs"
_LAST_PORT: Final = 65535
_LLM_D: Final = {"spec.router.name": "llm-d-router"}
_PAIR: Final = _LLM_D | {
    "spec.roles": [
        {"name": name, "kind": kind, "instanceType": "h20-8x", "extraArgs": ["--enable-scale-out"]}
        for name, kind in (("prefill", "Prefill"), ("decode", "Decode"))
    ]
}


@row(
    trigger=Example(_LLM_D | {_ARGUMENTS: ["--enable-scale-out"], _PORTS: [{"port": 8000}, {"port": 5558}]}),
    near_miss=Example(_LLM_D | {_ARGUMENTS: ["--enable-scale-out"], _PORTS: [{"port": 8000}, {"port": 8998}]}),
)
def reserved_port_declared(review: DeploymentReview) -> Iterator[Refusal]:
    """MD021 | spec.router, spec.roles[*].ports | A port the operator reserves for its own listener cannot be declared.

    5557 and 5558 carry the KV events of a vLLM role behind `llm-d-router` that produces cache blocks, which Decode
    and Encode roles do not; 8998 is where the Prefill role of a pair is found. Beside an Encode role 5601 is where
    vLLM's encoder hands its output over, and 8997 where SGLang's Prefill role listens for encoders. A role with a
    `command` gets no listener and keeps every port.

    Way out: another port. Source: spec 1 §Admission refusals, facts admission §7.
    """
    for role in review.roles:
        if not role.role.ports:
            continue
        reserved = _reserved(review.new, role.role, review.kinds)
        if taken := [port.port for port in role.role.ports if port.port in reserved]:
            yield _collision("MD021", review, role, taken[0], reserved, f"{role.path}.ports")


@row(
    trigger=Example(_PAIR | {"spec.roles[1].extraArgs": ["--enable-scale-out", "--port=8000"]}),
    near_miss=Example(_PAIR | {"spec.roles[1].extraArgs": ["--enable-scale-out", "--port=8200"]}),
)
def port_of_the_proxy(review: DeploymentReview) -> Iterator[Refusal]:
    """MD027 | spec.router | Behind llm-d-router a decoder's engine cannot take the port its proxy serves on.

    The routing proxy in a managed Decode Pod takes the port its Service publishes, and hands requests to the engine
    on another one: the role's own `--port`, or 8200. So that port has to be readable too. Every managed Decode role
    has the proxy, on SGLang and on Ascend as on native vLLM, in a pair or alone: the router only names a prefiller, and
    it is the proxy that calls it. Spec 1 speaks of native vLLM there; spec 2 has the proxy on Ascend too, and
    `llm-d-router` splits requests of SGLang pairs as well.

    Way out: remove `--port`. Source: facts admission §4 row 27, facts rendering §2, §7 and §8.
    """
    for role in review.roles:
        if not review.proxied(role):
            continue
        listening = role.listener
        if listening.port_given and listening.engine_port == listening.service_port:
            unreadable = _unreadable_port(role)
            if unreadable is None:
                said, because = str(listening.engine_port), "the port its Service publishes, and the routing proxy "
                because += "beside the engine takes that one"
            else:
                said, because = f'"{brief(unreadable)}"', "which is no port from 1 to 65535, and the routing proxy "
                because += "beside the engine has to know where it listens"
            yield Refusal(
                "MD027",
                "spec.router",
                review.router.name.value if review.router else None,
                why=f"role {role.role.name} passes --port {said}, {because}",
                way_out=f"remove --port from {role.path}.extraArgs, or name another port there",
                patch=_without_flag(role, role.engine.listen.port),
            )


@row(
    trigger=Example(
        _PAIR
        | {
            "spec.roles[1].extraArgs": ["--enable-scale-out", "--port=9100"],
            "spec.roles[1].ports": [{"port": 8000}, {"port": 9100}],
        }
    ),
    near_miss=Example(
        _PAIR
        | {
            "spec.roles[1].extraArgs": ["--enable-scale-out", "--port=9200"],
            "spec.roles[1].ports": [{"port": 8000}, {"port": 9100}],
        }
    ),
)
def engine_at_a_declared_port(review: DeploymentReview) -> Iterator[Refusal]:
    """MD055 | spec.roles[*].extraArgs | Behind llm-d-router a decoder's engine cannot take a port its role declares.

    The routing proxy takes the first of `ports` (MD027); the others are published by the role's Service for whatever
    else listens in the Pod, and the engine moved onto one of them would answer there past the proxy. Which roles have
    the proxy, MD027 says.

    Way out: remove `--port`, or name a port that `ports` does not hold. Source: facts rendering §7 and §14 F10.
    """
    for role in review.roles:
        if not role.role.ports or not review.proxied(role):
            continue
        own, (first, *others) = own_port(role), (port.port for port in role.role.ports)
        # The role may declare its first number a second time, for UDP; that one is MD027's.
        if own is not None and own != first and own in others:
            index = next(at for at, port in enumerate(role.role.ports) if port.port == own)
            yield Refusal(
                "MD055",
                role.stream_path,
                list(role.stream),
                why=f"--port {own} in {role.stream_path} is declared by {role.path}.ports[{index}] too, and the engine "
                "behind the routing proxy needs a port of its own",
                way_out="remove --port, or write a port the role does not declare",
                patch=_without_flag(role, role.engine.listen.port),
            )


@row(
    trigger=Example({_PORTS: [{"port": 8000}], _ARGUMENTS: ["--port", "9000"]}),
    near_miss=Example({_PORTS: [{"port": 9000}], _ARGUMENTS: ["--port", "9000"]}),
)
def two_serving_ports(review: DeploymentReview) -> Iterator[Refusal]:
    """MD029 | spec.roles[*].extraArgs, command | The engine listens where the role's first port says.

    Services, probes and routers reach the Pod at the first entry of `ports`; an engine told another `--port` never
    answers there. A managed decoder behind `llm-d-router` is exempt, because its proxy owns the declared port; which
    roles that are, MD027 says. A value that is no number, as in `--port $(PORT)`, names no port. A stored role is
    judged when an edit changes its ports or its arguments.

    Way out: one value; without `--port` the operator passes the declared one. Source: facts admission §4 row 29.
    """
    for role in review.roles:
        if not role.role.ports or review.proxied(role) or listens_as_stored(role):
            continue
        declared, own = role.role.ports[0].port, own_port(role)
        if own not in (None, declared):
            managed = role.role.managed
            yield Refusal(
                "MD029",
                role.stream_path,
                list(role.stream),
                why=f"--port {own} in {role.stream_path} is not the port {declared} of {role.path}.ports[0], at which "
                "Services, probes and routers reach the role",
                way_out=(f"remove --port, which the operator then passes as {declared}" if managed else "name one port")
                + (f", or put {own} first in {role.path}.ports" if _is_port(own) else ""),
                patch=_without_flag(role, role.engine.listen.port) if managed else (),
            )


@row(
    trigger=Example(_LLM_D | {_ARGUMENTS: ["--enable-scale-out", "--port", "5557"]}),
    near_miss=Example(_LLM_D | {_ARGUMENTS: ["--enable-scale-out", "--port", "8998"]}),
)
def reserved_port_taken(review: DeploymentReview) -> Iterator[Refusal]:
    """MD030 | spec.router, spec.roles[*].extraArgs | The engine cannot listen on a port reserved for another listener.

    The reserved ports are those of MD021, here reached by a `--port` of a role that declares no `ports`. A stored
    role that already collides is left alone until an edit makes it collide anew; adding a router that does is
    refused.

    Way out: another port, or none. Source: spec 1 §Admission refusals, facts admission §7 and §8.
    """
    for role in review.roles:
        port = _reserved_own_port(review.new, role.role, role.listener, review.kinds)
        if port and not (review.old and role.old and _collided(review.old, role.old, port)):
            yield _collision(
                "MD030",
                review,
                role,
                port,
                _reserved(review.new, role.role, review.kinds),
                f"{role.path}.extraArgs",
                patch=_without_flag(role, role.engine.listen.port),
            )


@row(
    trigger=Example({_ARGUMENTS: ["--served-model-name", "qwen"]}),
    near_miss=Example({_ARGUMENTS: ["--served-model-name", "Qwen/Qwen2.5-72B-Instruct"]}),
)
def served_under_another_name(review: DeploymentReview) -> Iterator[Refusal]:
    """MD031 | spec.roles[*].extraArgs | A managed role serves the model under the deployment's name for it.

    Routers and status name the model by `spec.model.name`; a role that answers to another name, or to two, gives
    404 to whoever asks for the first. A stored role is judged when an edit moves the names it serves.

    Way out: exactly `spec.model.name`, or no flag; a role with a `command` names what it likes. Source: facts
    admission §4 row 31 and §5.
    """
    model = review.new.spec.model.name
    for role in review.roles:
        if not role.role.managed:
            continue
        names = role.line.served_names
        if names is None or names == (model,):
            continue
        if review.old and role.old and _serves_as_stored(review.old, role, names, model):
            continue
        said = ", ".join(names) if names else "nothing"
        yield Refusal(
            "MD031",
            f"{role.path}.extraArgs",
            list(role.role.extra_args),
            why=f"{SERVED_MODEL_NAME} says {brief(said, 120)}, and callers know the model by spec.model.name, {model}",
            way_out=f"write {SERVED_MODEL_NAME}={model}, leave the flag out, or take the whole command line over with "
            f"{role.own_command}",
            patch=_renamed(role, model),
        )


def own_port(role: RoleReview) -> int | None:
    """The number the role's own flag names, whether or not one can listen there; None where it names none."""
    if not role.listener.port_given:
        return None
    unreadable = _unreadable_port(role)
    return _whole(unreadable) if unreadable is not None else role.listener.engine_port


def _unreadable_port(role: RoleReview) -> str | None:
    """What the role's own port flag says where that is no port, empty for nothing; None where it is one."""
    said = role.given.get(role.engine.listen.port) or ""
    number = _whole(said)
    return None if _is_port(number) else said


def _is_port(number: int | None) -> bool:
    return number is not None and 1 <= number <= _LAST_PORT


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _reserved(deployment: ModelDeployment, role: Role, kinds: frozenset[RoleKind]) -> tuple[int, ...]:
    return reserved_ports(
        ENGINES[deployment.spec.engine.name],
        deployment.spec.router.name if deployment.spec.router else None,
        role.kind,
        pair={RoleKind.PREFILL, RoleKind.DECODE} <= kinds,
        has_cache=deployment.spec.kv_cache is not None,
        managed=role.managed,
        encode=RoleKind.ENCODE in kinds,
    )


def _reserved_own_port(
    deployment: ModelDeployment, role: Role, listening: Listener, kinds: frozenset[RoleKind]
) -> int | None:
    """The port a role without `ports` asks for by its own flag, where it is reserved."""
    if role.ports or not listening.port_given:
        return None
    return listening.engine_port if listening.engine_port in _reserved(deployment, role, kinds) else None


def _collided(stored: ModelDeployment, role: Role, port: int) -> bool:
    """Whether the stored role asked for the same reserved port."""
    kinds = frozenset(each.kind for each in stored.spec.roles)
    return _reserved_own_port(stored, role, listener(role, ENGINES[stored.spec.engine.name]), kinds) == port


def _collision(
    code: str,
    review: DeploymentReview,
    role: RoleReview,
    port: int,
    reserved: tuple[int, ...],
    where: str,
    patch: tuple[patching.Operation, ...] = (),
) -> Refusal:
    router = review.router
    engine = review.engine.name
    return Refusal(
        code,
        "spec.router" if router else where,
        router.name.value if router else patching.found(review.body, where),
        why=f"port {port} in {where} of role {role.role.name} is reserved: on {engine}"
        f"{f' behind {router.name}' if router else ''} the operator puts listeners of its own on "
        f"{', '.join(map(str, reserved))} of this role",
        way_out=f"use a port other than {', '.join(map(str, reserved))} in {where}",
        cause=Cause.INVALID,
        patch=patch,
    )


def listens_as_stored(role: RoleReview) -> bool:
    """Whether an edit leaves ports and arguments of a stored role as they are."""
    old = role.old
    return old is not None and role.role.ports == old.ports and role.stream == (old.command or old.extra_args)


def _serves_as_stored(old: ModelDeployment, role: RoleReview, names: tuple[str, ...], model: str) -> bool:
    stored = role.old
    return (
        stored is not None
        and stored.managed
        and old.spec.model.name == model
        and role.engine.served_names(stored.extra_args) == names
    )


def _entries(role: RoleReview, flag: str) -> Iterator[int]:
    """Every entry of `extraArgs` that one flag takes up, in every spelling and repetition."""
    given = role.role.extra_args
    for index, argument in enumerate(given):
        if argument == "--":
            return
        if role.engine.flags.resolve(argument.partition("=")[0]) == flag:
            yield from arguments.extent(given, index)


def _without_flag(role: RoleReview, flag: str) -> tuple[patching.Operation, ...]:
    return arguments.without(f"{role.path}.extraArgs", _entries(role, flag))


def _renamed(role: RoleReview, model: str) -> tuple[patching.Operation, ...]:
    field, entries = f"{role.path}.extraArgs", list(_entries(role, SERVED_MODEL_NAME))
    return (
        *arguments.without(field, entries),
        patching.put(f"{field}[{entries[0]}]", f"{SERVED_MODEL_NAME}={model}"),
    )


RULES: Final[tuple[Row[Any, Any], ...]] = (
    reserved_port_declared,
    port_of_the_proxy,
    engine_at_a_declared_port,
    two_serving_ports,
    reserved_port_taken,
    served_under_another_name,
)
