import dataclasses

import pytest
from demo_worlds import CREDITS, FLAVOR, Story, decode, prefill, routed, router, workload
from modeldeployment.admission import Policy, from_manifests, review
from modeldeployment.lab.demo import manifests, pair
from modeldeployment.lab.demo.history import World
from modeldeployment.lab.demo.scenario import ApplyFile, DeleteFile, DiffFiles, Step


def steps() -> tuple[Step, ...]:
    return pair.pair("team-a", resource=CREDITS, flavor=FLAVOR)


def test_the_pair_comes_is_asked_about_an_edit_gets_it_and_goes() -> None:
    assert [each.act for each in steps()] == [
        ApplyFile("qwen-pd.yaml"),
        DiffFiles("qwen-pd.yaml", "qwen-pd-edited.yaml"),
        ApplyFile("qwen-pd-edited.yaml"),
        DeleteFile("qwen-pd.yaml"),
    ]


def test_a_pair_is_at_rest_once_its_router_is_ready_too() -> None:
    assert pair.routed(routed(), 4)
    assert not pair.routed(routed(), 5)
    assert not pair.routed(World(), 0)
    deployment = routed().deployment
    assert deployment is not None
    unsaid = dataclasses.replace(deployment, conditions=deployment.conditions[:2])
    assert not pair.routed(World({**routed().objects, "d": unsaid}), 4)
    assert not pair.routed(World({**routed().objects, "r-Pod": router("Pod", ready=False)}), 4)


def test_the_edit_is_not_over_before_every_decoder_runs_the_new_image() -> None:
    edit = steps()[2]
    before, grown = routed(), routed(prefills=3)
    assert not edit.reached(before, grown)
    rolled = {each.uid: each for each in (decode(0, image=pair.NEW_IMAGE), decode(1, image=pair.NEW_IMAGE))}
    assert edit.reached(before, World({**grown.objects, **rolled}))


def test_the_edit_is_judged_by_every_claim() -> None:
    before = routed()
    story = Story(before).put(prefill(2), workload("P2"))
    for ordinal in (1, 0):
        story.put(decode(ordinal, leaving=True)).gone(f"w-D{ordinal}", f"D{ordinal}")
        story.put(decode(ordinal, f"N{ordinal}"), workload(f"N{ordinal}"))
    after = routed(prefills=3, summary="1R3P2D").deployment
    assert after is not None
    good = story.put(after).window
    assert [verdict.claim for verdict in steps()[2].judge(good) if not verdict.holds] == []
    bad = story.gone("w-P0", "P0").put(router("Pod", ready=False)).window
    assert [verdict.holds for verdict in steps()[2].judge(bad)] == [
        False,
        False,
        True,
        True,
        False,
        False,
        True,
        True,
    ]


def test_a_deletion_is_not_over_before_the_router_is_gone() -> None:
    delete = steps()[3]
    assert delete.reached(routed(), World())
    assert not delete.reached(routed(), World({"r-Role": router("Role")}))


@pytest.mark.parametrize("name", [manifests.PAIR, manifests.EDITED_PAIR])
def test_both_manifests_are_let_in_without_a_warning(name: str) -> None:
    pool = {"capacity": "160", "remaining": "160", "onceMaxRequest": "8"}
    instance_type = {
        "apiVersion": "worker.gpustack.ai/v1",
        "kind": "InstanceType",
        "metadata": {"name": "gpustack-nvidia-a10g-linux-amd64"},
        "spec": {"acceleratable": True, "acceleratorGroup": "nvidia-a10g", "arch": "amd64", "os": "linux"},
        "status": {"phase": "Active", "accelerator": pool, "detail": {"manufacturer": "nvidia"}},
    }
    said = review(manifests.read(name), None, from_manifests([instance_type], Policy()))
    assert (said.refusals, said.warnings, said.unready) == ((), (), ())


def test_the_edit_is_one_prefiller_more_and_another_image_for_decoders() -> None:
    wanted = manifests.read(manifests.PAIR)
    first, second = wanted["spec"]["roles"]
    assert (first["name"], first["replicas"], second["name"], second["replicas"]) == ("prefill", 2, "decode", 2)
    first["replicas"], second["image"] = 3, "registry.example/vllm-openai:0.30.1"
    assert manifests.read(manifests.EDITED_PAIR) == wanted
