"""What a router adds to the objects that all routers have: its containers and its configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from modeldeployment.router.front import Run
from modeldeployment.router.standing import Standing


@dataclass(frozen=True, slots=True)
class Workload:
    """One router's Pod: its containers in order, and the command line of the routing program by origin.

    `documents` is the data of its ConfigMap by key; a router whose whole configuration is its command line has none,
    and then no ConfigMap (decisions D11). `volumes` are those its containers mount.
    """

    containers: tuple[dict[str, Any], ...]
    runs: tuple[Run, ...]
    documents: Mapping[str, str] = field(default_factory=dict)
    volumes: tuple[dict[str, Any], ...] = ()


def owned(why: str, *tokens: str) -> Run:
    """Arguments that are the operator's alone: admission refuses their flags in `spec.router.extraArgs`."""
    return Run(tokens, why, Standing.OWNED)


def defaulted(why: str, token: str, given: Sequence[str]) -> tuple[Run, ...]:
    """Answer one argument of the form ``--flag=value`` unless `given`, what the user wrote, has its flag."""
    flag = token.partition("=")[0]
    if any(argument.partition("=")[0] == flag for argument in given):
        return ()
    return (Run((token,), why, Standing.DEFAULTED),)


def appended(given: Sequence[str]) -> tuple[Run, ...]:
    """Answer what the user wrote, which always comes last; nothing where there is nothing."""
    why = "Further arguments for the router, from spec.router.extraArgs."
    return (Run(tuple(given), why, Standing.USER),) if given else ()


def tokens(runs: Sequence[Run]) -> list[str]:
    """Answer the arguments of a container from their runs."""
    return [token for run in runs for token in run.tokens]


def container(
    name: str,
    image: str,
    pull_policy: str,
    *,
    ports: Mapping[str, int],
    readiness: Mapping[str, Any],
    **more: Any,
) -> dict[str, Any]:
    """Answer a container of a router's Pod, `ports` by name; it requests nothing, so it stays outside quota.

    The pull policy is never left to the API server, whose choice would read back as a difference
    (facts router-rendering §2).
    """
    return {
        "name": name,
        "image": image,
        "imagePullPolicy": pull_policy,
        **more,
        "ports": [{"name": key, "containerPort": number, "protocol": "TCP"} for key, number in ports.items()],
        "readinessProbe": dict(readiness),
    }
