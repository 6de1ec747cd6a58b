"""A real scaler over engines that are really asked: what it makes of load, of quota that is not there, of nonsense."""

import itertools
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from e2e_accounts import account
from e2e_board import admitted
from e2e_operators import Operator
from e2e_retiring import MODEL, Loaded, halves, nothing_lost, retired, routed, servers
from e2e_routed import create
from e2e_traced import (
    HOUR,
    PENDING,
    Scalers,
    asked_again,
    declares,
    engines,
    limit,
    vectors,
    watching_scalers,
)
from e2e_worlds import JSON, World
from modeldeployment.api import keys
from modeldeployment.kube.kinds import PODS
from modeldeployment.lab.engines import FakeEngine
from modeldeployment.lab.loading import Tempo, deliver, played, read
from modeldeployment.lab.serving import Serving

pytestmark = pytest.mark.lab


@pytest.fixture
async def scalers(world: World, tmp_path: Path) -> AsyncIterator[Scalers]:
    """Return the world's scalers, none yet, and an operator that scales, unless one of another worker does."""
    kubeconfig = await account(world.control_plane, "default", tmp_path)
    operator = Operator(kubeconfig, tmp_path, "scaler", {}, only=("scaler",))
    await operator.ready()
    async with watching_scalers(world) as started:
        yield started
    await operator.stop()


def queueing(**targets: str) -> JSON:
    """Recommend by the depth of queues: so many requests per ready replica."""
    block = {"metric": "QueueDepth", "roleTargets": [{"name": name, "target": each} for name, each in targets.items()]}
    return {"type": "Proportional", "proportional": block}


def tell(fakes: Iterable[FakeEngine], **changes: Any) -> None:
    """Change how each engine tells its metrics; nothing is the truth again."""
    for fake in fakes:
        fake.tell(**changes)


def held(world: World) -> list[bool]:
    """Whether each replica that stands is admitted, those first that are not: which of them is Kueue's choice."""
    board = world.board
    return sorted(admitted(board.workload_of(members[0])) for members in board.replicas("chat").values())


async def test_counts_follow_a_recorded_hour_up_and_down_and_no_request_is_lost(
    world: World, serving: Serving, scalers: Scalers
) -> None:
    serving.behaviour = replace(
        serving.behaviour,
        token_seconds=0.01,
        prefill_rate=8000,
        decode_rate=4000,
        blocks=16384,
        spread=0.1,
        together=16,
    )
    await create(world, servers(world, "vLLM", "vllm-router", replicas=2))
    url = await routed(world, serving)
    token = {
        "serverTargetTokensPerSecond": "2400",
        "stableWindowSeconds": 30,
        "panicWindowSeconds": 10,
        "ttftTargetMilliseconds": "20000",
        "itlTargetMilliseconds": "5000",
    }
    await scalers.create(
        roles=[{"name": "server", "minReplicas": 2, "maxReplicas": 8}],
        algorithm={"type": "TokenThroughput", "tokenThroughput": token},
        behavior={"scaleDown": {"stabilizationWindowSeconds": 15}},
    )
    loaded = Loaded(await deliver(played(read(HOUR), Tempo(compress=20, shared=0.25)), 60.0, url, MODEL))
    await declares(world, 2, within=180)
    await world.settled()

    counts = [count for (count,) in vectors(world)]
    assert counts[0] == counts[-1] == 2
    assert max(counts) > 2, counts  # how far depends on how fast a loaded machine delivers the hour
    steps = [after - before for before, after in itertools.pairwise(counts)]
    assert min(steps) == -1, counts
    nothing_lost(serving, loaded)
    assert retired(world) == sum(step < 0 for step in steps)
    assert scalers.status()["lastCommit"]["vector"] == {"server": 2}


async def test_growth_without_quota_is_taken_back_whole_and_another_role_gives_its_replica(
    world: World, serving: Serving, scalers: Scalers
) -> None:
    manifest = halves(world, "SGLang", "sglang-gateway", terminationGracePeriodSeconds=15)
    for role, replicas in zip(manifest["spec"]["roles"], (2, 3), strict=True):
        role["replicas"] = replicas
    await create(world, manifest)
    await routed(world, serving)
    await limit(world, 5)
    tell(engines(world, serving, "prefill"), lies={"sglang:num_queue_reqs": "40"})
    await scalers.create(
        roles=[{"name": name, "minReplicas": 1, "maxReplicas": 4} for name in ("prefill", "decode")],
        algorithm=queueing(prefill="8", decode="8"),
        behavior={
            "scaleUp": {"stepPolicy": {"type": "Pods", "value": 2}},
            "scaleDown": {"stabilizationWindowSeconds": 1800, "decodePostScaleUpGraceSeconds": 1},
        },
    )
    await declares(world, 4, 3)
    pending = scalers.status
    await scalers.until(lambda: pending().get("pendingCohort"), "the growth is pending")
    assert pending()["pendingCohort"]["baselineVector"] == {"prefill": 2, "decode": 3}
    await scalers.until(
        lambda: scalers.condition("Blocked").get("reason") == "ResourceExhausted",
        "quota is found to be exhausted",
        within=PENDING + 60,
    )
    await declares(world, 2, 2)
    await declares(world, 3, 2, within=180)
    assert vectors(world)[:5] == [(2, 3), (4, 3), (2, 3), (2, 2), (3, 2)]
    await world.settled()
    tell(engines(world, serving, "prefill"))
    left = Counter(pod.metadata.labels[keys.COMPONENT] for pod in world.board.deleted(PODS))
    assert left == {"prefill": 2, "decode": 1}


async def test_quota_that_vanishes_while_growth_is_pending_takes_it_back_whole_and_disturbs_nothing_that_ran(
    world: World, serving: Serving, scalers: Scalers
) -> None:
    await create(world, servers(world, "vLLM", None, replicas=2))
    await world.settled()
    ran = {pod.metadata.uid for pod in world.board.all_pods("chat")}
    fakes = engines(world, serving, "server")
    await limit(world, 3)
    tell(fakes, lies={"vllm:num_requests_waiting": "24"})
    await scalers.create(
        roles=[{"name": "server", "minReplicas": 1, "maxReplicas": 8}],
        algorithm=queueing(server="8"),
        behavior={
            "scaleUp": {"stepPolicy": {"type": "Pods", "value": 2}},
            "scaleDown": {"stabilizationWindowSeconds": 1800},
        },
    )
    await declares(world, 4)
    await world.board.until(lambda: held(world) == [False, True, True, True], what="one of two newcomers is admitted")
    await limit(world, 1)
    blocked = partial(scalers.condition, "Blocked")
    await scalers.until(lambda: "not admitted yet" in blocked().get("message", ""), "growth waits for what is pending")
    assert scalers.status()["pendingCohort"]["baselineVector"] == {"server": 2}
    assert held(world) == [False, True, True, True]
    await scalers.until(lambda: blocked()["reason"] == "ResourceExhausted", "quota is exhausted", within=PENDING + 60)
    await scalers.until(lambda: "found no quota and was taken back" in blocked()["message"], "the cause is named")
    await world.board.until(
        lambda: {pod.metadata.uid for pod in world.board.all_pods("chat")} == ran,
        within=180,
        what="the others are gone",
    )
    await world.settled()
    assert vectors(world) == [(2,), (4,), (2,)]
    assert "pendingCohort" not in scalers.status()
    tell(fakes)


async def test_engines_that_talk_nonsense_move_no_count_and_are_named_as_the_cause(
    world: World, serving: Serving, scalers: Scalers
) -> None:
    await create(world, servers(world, "vLLM", None, replicas=2))
    await world.settled()
    fakes = engines(world, serving, "server")
    just_right, deep = {"vllm:num_requests_waiting": "8"}, {"vllm:num_requests_waiting": "40"}
    noises: list[tuple[dict[str, Any], str]] = [
        ({"status": 500}, "500"),
        ({"text": "vllm:num_requests_waiting{ 40\n"}, "cannot be read"),
        ({"lies": {**deep, "vllm:num_requests_running": "NaN"}}, "vllm:num_requests_running"),
    ]
    tell(fakes, lies=just_right)
    await scalers.create(
        roles=[{"name": "server", "minReplicas": 1, "maxReplicas": 4}],
        algorithm=queueing(server="8"),
        behavior={"scaleDown": {"stabilizationWindowSeconds": 1}},
    )
    for noise, named in noises:
        await scalers.until(lambda: scalers.condition("MetricsReady").get("status") == "True", "engines are read")
        tell(fakes, **noise)
        await scalers.until(lambda: scalers.condition("MetricsReady").get("status") == "False", "engines are not read")
        assert named in scalers.condition("MetricsReady")["message"]
        await asked_again(fakes)
        tell(fakes, lies=just_right)
    assert vectors(world) == [(2,)]
    tell(fakes, lies=deep)
    await declares(world, 4)
    tell(fakes)
