import dataclasses
from pathlib import Path
from typing import Any

import pytest
from demo_worlds import CREDITS, FLAVOR, Story, deployment, pod, settled, workload, world
from modeldeployment.admission import Policy, Verdict, from_manifests, review
from modeldeployment.lab.demo import manifests
from modeldeployment.lab.demo import scenario as scenarios
from modeldeployment.lab.demo.claims import Mistake
from modeldeployment.lab.demo.history import Window, World
from modeldeployment.lab.demo.manifests import manifest
from modeldeployment.lab.demo.playing import shortfall
from modeldeployment.lab.demo.scenario import Apply, DeleteDeployment, DeletePod, Scale, SetImage, Step


def steps(*, served: bool = True) -> tuple[Step, ...]:
    return scenarios.scenario("chat", "server", resource=CREDITS, flavor=FLAVOR, served=served)


def step(act: type[object]) -> Step:
    return next(each for each in steps() if isinstance(each.act, act))


def test_the_story_comes_scales_shrinks_rolls_heals_and_goes() -> None:
    assert [(each.act, each.served) for each in steps()] == [
        (Apply(), False),
        (Scale(6), True),
        (Scale(4), True),
        (SetImage("registry.example/vllm-openai:0.29.1"), False),
        (DeletePod(1), False),
        (DeleteDeployment(), False),
    ]


def test_where_nobody_can_be_served_the_story_never_shrinks() -> None:
    assert [(each.act, each.served) for each in steps(served=False)] == [
        (Apply(), False),
        (Scale(6), False),
        (SetImage("registry.example/vllm-openai:0.29.1"), False),
        (DeletePod(1), False),
        (DeleteDeployment(), False),
    ]


def test_a_shrink_is_not_over_while_a_replica_is_on_its_way_out() -> None:
    (shrink,) = (each for each in steps() if each.act == Scale(4))
    assert shrink.reached(settled(6), settled(4))
    assert not shrink.reached(settled(6), Story(settled(4)).retiring(4, "Settling").window.after)


def test_a_shrink_is_judged_by_how_its_replicas_left() -> None:
    (shrink,) = (each for each in steps() if each.act == Scale(4))
    story = Story(settled(6)).retired(5).retired(4).put(deployment(4))
    assert [verdict.holds for verdict in shrink.judge(story.window)] == [True] * 5


def test_a_deployment_at_rest_is_settled() -> None:
    assert scenarios.settled(settled(3), 3)
    assert not scenarios.settled(settled(3), 4)
    assert not scenarios.settled(World(), 0)


@pytest.mark.parametrize(
    "unsettled",
    [
        world(deployment(1, current=False), pod(0), workload("p0")),
        world(deployment(1, phase="Degraded"), pod(0), workload("p0")),
        world(dataclasses.replace(deployment(1), conditions=()), pod(0), workload("p0")),
        world(deployment(1), pod(0, leaving=True), workload("p0")),
        world(deployment(1), pod(0), workload("p0", admitted=False)),
        world(deployment(1), pod(0), workload("p0"), workload("p0", uid="old")),
        world(deployment(1), pod(0), pod(1), workload("p0")),
    ],
    ids=["old status", "degraded", "not observed", "leaving", "not admitted", "old Workload", "surplus Pod"],
)
def test_a_world_with_something_under_way_is_not_settled(unsettled: World) -> None:
    assert not scenarios.settled(unsettled, 1)


def test_an_image_change_is_not_over_before_every_pod_runs_it() -> None:
    image = scenarios.NEW_IMAGE
    others = (pod(each) for each in range(1, 4))
    half = world(deployment(4), pod(0, image=image), *others, *(workload(f"p{each}") for each in range(4)))
    assert not step(SetImage).reached(settled(4), half)


def test_a_deleted_pod_is_not_replaced_while_it_is_still_there() -> None:
    before = settled(4)
    assert not step(DeletePod).reached(before, before)
    assert step(DeletePod).reached(before, Story(before).swapped(1, "p1", "n1").window.after)


def test_a_deletion_is_not_over_before_everything_is_gone() -> None:
    assert step(DeleteDeployment).reached(settled(4), World())
    assert not step(DeleteDeployment).reached(settled(4), world(pod(0)))


def test_a_step_judges_its_window_by_all_of_its_claims() -> None:
    story = Story(settled(4)).swapped(1, "p1", "n1")
    assert [verdict.holds for verdict in step(DeletePod).judge(story.window)] == [True] * 5
    broken = Story(settled(4)).swapped(1, "p1", "n1").put(pod(0, ready=False))
    assert [verdict.holds for verdict in step(DeletePod).judge(broken.window)] == [False, True, True, False, True]


def test_a_world_that_did_not_come_to_rest_is_told_by_its_status() -> None:
    waiting = dataclasses.replace(deployment(4, ready=0, phase="Starting"), message="4 of 4 replicas wait")
    condition = dataclasses.replace(waiting.conditions[1], status="False", reason="Pending", message="no quota")
    assert shortfall(world(dataclasses.replace(waiting, conditions=(condition,)))) == (
        "phase Starting: 4 of 4 replicas wait",
        "QuotaReserved is False (Pending): no quota",
    )
    assert shortfall(world(pod(0))) == ("Pod chat-server-p0",)
    assert shortfall(World()) == ("the deployment is not there",)


def test_a_wrong_manifest_is_over_once_nothing_is_there_and_is_judged_by_what_kubectl_told() -> None:
    wrong = scenarios.prologue()
    assert wrong.reached(World(), World())
    assert not wrong.reached(World(), settled(1))
    told = tuple(f"* {each.field}: why ({each.code})" for each in scenarios.MISTAKES)
    assert [verdict.holds for verdict in wrong.judge(Window(World(), (), told))] == [True] * 4
    assert [verdict.holds for verdict in wrong.judge(Window(World(), ()))] == [False, False, True, True]


def verdict(document: dict[str, Any]) -> Verdict:
    """What admission says on a cluster that has the demo's InstanceType."""
    pool = {"capacity": "160", "remaining": "160", "onceMaxRequest": "8"}
    instance_type = {
        "apiVersion": "worker.gpustack.ai/v1",
        "kind": "InstanceType",
        "metadata": {"name": "gpustack-nvidia-a10g-linux-amd64"},
        "spec": {"acceleratable": True, "acceleratorGroup": "nvidia-a10g", "arch": "amd64", "os": "linux"},
        "status": {"phase": "Active", "accelerator": pool, "detail": {"manufacturer": "nvidia"}},
    }
    return review(document, None, from_manifests([instance_type], Policy()))


def test_the_wrong_manifest_makes_the_mistakes_that_the_story_tells_of_and_no_other() -> None:
    said = verdict(manifests.read(manifests.WRONG))
    assert tuple(Mistake(each.field, each.code) for each in said.refusals) == scenarios.MISTAKES
    assert said.warnings == ()


def test_the_right_manifest_is_let_in_without_a_warning() -> None:
    said = verdict(manifest("team-a", "gpustack-nvidia-a10g-linux-amd64"))
    assert (said.refusals, said.warnings, said.unready) == ((), (), ())


def test_a_manifest_is_named_as_one_would_type_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = Path(manifests.__file__).with_name("qwen-wrong.yaml")
    monkeypatch.chdir(file.parents[1])
    assert manifests.file(manifests.WRONG) == Path("demo/qwen-wrong.yaml")
    monkeypatch.chdir(tmp_path)
    assert manifests.file(manifests.WRONG) == file


def test_the_manifest_is_the_minimal_deployment_of_the_document() -> None:
    assert manifest("team-a", "gpustack-nvidia-a10g-linux-amd64") == {
        "apiVersion": "worker.gpustack.ai/v1",
        "kind": "ModelDeployment",
        "metadata": {"name": "qwen-chat", "namespace": "team-a"},
        "spec": {
            "model": {"name": "Qwen/Qwen2.5-72B-Instruct"},
            "engine": {"name": "vLLM", "version": "0.29.0"},
            "roles": [
                {
                    "name": "server",
                    "replicas": 4,
                    "instanceType": "gpustack-nvidia-a10g-linux-amd64",
                    "resources": {"accelerator": 2},
                }
            ],
        },
    }
