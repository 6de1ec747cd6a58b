"""The Pod of a router that takes its whole configuration on its command line.

The two there are spell the same arguments, but for the switch of a pair and the connector.
Sources: facts router-rendering §5, facts routing §6, facts encode §6, decisions D47 and D48.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from modeldeployment.api.choices import RoleKind
from modeldeployment.router import workload
from modeldeployment.router.front import Front, FrontedRole, Run
from modeldeployment.router.ports import LISTEN_PORT, METRICS_PORT
from modeldeployment.router.pulling import pull_policy
from modeldeployment.router.workload import Workload

TIMEOUT: Final = "--request-timeout-secs"
"""How both spell `spec.router.requestTimeoutSeconds`; a user's own takes its place."""
READINESS = "/readiness"
"""503 until a worker is known, where `/health` is 200 with none (facts routers-measured §1)."""


@dataclass(frozen=True, slots=True)
class Program:
    """What one such router spells its own way.

    `command` is its program and `switch` what tells it of a pair. `connector` names how blocks move, empty where the
    engine decides, and `encoding` how beside an Encode role. `patience` are the seconds it waits for a Pod that is
    found but does not answer; 0 where nothing waits for it.
    """

    command: str
    switch: str
    connector: str = ""
    encoding: str = ""
    patience: int = 0


def commanded(program: Program, front: Front, config: str) -> Workload:
    """Answer its one container; `config` is unused, as it has no documents."""
    del config
    router = front.router
    image = router.image or front.images.router
    runs = (*_arguments(program, front), *workload.appended(router.extra_args))
    container = workload.container(
        "router",
        image,
        pull_policy(router, image),
        command=[program.command],
        args=workload.tokens(runs),
        ports={"http": LISTEN_PORT, "metrics": METRICS_PORT},
        readiness={"httpGet": {"path": READINESS, "port": LISTEN_PORT, "scheme": "HTTP"}},
    )
    return Workload(containers=(container,), runs=runs)


VLLM = partial(
    commanded,
    Program("vllm-router", "--vllm-pd-disaggregation", connector="mooncake", encoding="nixl", patience=10),
)
SGLANG = partial(commanded, Program("sgl-model-gateway", "--pd-disaggregation"))


def _arguments(program: Program, front: Front) -> Iterator[Run]:
    router = front.router
    given = router.extra_args
    yield workload.owned(
        "Callers reach it from other Pods, so it listens on every address; so do its numbers.",
        "--host=0.0.0.0",
        f"--port={LISTEN_PORT}",
        "--prometheus-host=0.0.0.0",
        f"--prometheus-port={METRICS_PORT}",
    )
    if router.request_timeout_seconds is not None:
        why = "How long it waits for a reply, from spec.router.requestTimeoutSeconds."
        yield from workload.defaulted(why, f"{TIMEOUT}={router.request_timeout_seconds}", given)
    if program.encoding and front.of_kind(RoleKind.ENCODE):
        yield from _encoding(program, front)
    else:
        yield from _discovering(program, front, given)


def _discovering(program: Program, front: Front, given: Sequence[str]) -> Iterator[Run]:
    if program.connector:
        why = "How the two halves of a pair hand blocks over; its own default would route and never transfer."
        yield workload.owned(why, f"--kv-connector={program.connector}")
    if program.patience:
        why = "A Pod that is found and does not answer holds up every other one for no longer than this."
        yield from workload.defaulted(why, f"--worker-startup-timeout-secs={program.patience}", given)
        # It looks at the clock only when it looks at the Pod, which by itself is every half minute.
        why = "How often it asks such a Pod, and so how exactly it keeps that time."
        yield from workload.defaulted(why, "--worker-startup-check-interval=1", given)
    yield workload.owned(
        "Replicas come and go, so it finds them by their labels and is never restarted for one.",
        "--service-discovery",
        f"--service-discovery-namespace={front.namespace}",
        f"--service-discovery-port={front.port}",
    )
    if not front.pair:
        yield workload.owned("Which Pods answer.", "--selector", *_equalities(front.selector))
        return
    yield workload.owned("A Prefill and a Decode role make a pair.", program.switch)
    for kind in (RoleKind.PREFILL, RoleKind.DECODE):
        labels = _shared(front.of_kind(kind))
        yield workload.owned(f"Which Pods are its {kind.label} half.", f"--{kind.label}-selector", *_equalities(labels))


def _encoding(program: Program, front: Front) -> Iterator[Run]:
    """Name Services: this router takes encoders and the halves beside them by URL alone, and no Pod's URL lasts."""
    why = "How the two halves hand blocks over when neither is found by its labels."
    yield workload.owned(why, f"--kv-connector={program.encoding}")
    yield workload.owned("A Prefill and a Decode role make a pair.", program.switch)
    for kind in (RoleKind.PREFILL, RoleKind.DECODE):
        for role in front.of_kind(kind):
            yield workload.owned(f"The Service of its {kind.label} half.", f"--{kind.label}", role.endpoint)
    encoders = {"encoder_urls": [role.endpoint for role in front.of_kind(RoleKind.ENCODE)]}
    yield workload.owned(
        "The Service that turns media into embeddings before the prefill half sees them.",
        f"--epd-config={json.dumps(encoders, separators=(',', ':'))}",
    )


def _equalities(labels: Mapping[str, str]) -> Iterator[str]:
    """One argument per label: the programs split each at its first `=` and drop one without, silently."""
    return (f"{key}={labels[key]}" for key in sorted(labels))


def _shared(roles: Sequence[FrontedRole]) -> dict[str, str]:
    """Answer the labels that the answering Pods of all these roles carry alike."""
    first, *others = roles
    return {
        key: value for key, value in first.selector.items() if all(other.selector.get(key) == value for other in others)
    }
