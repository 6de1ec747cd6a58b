from typing import Any

import pytest
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.render import MAKERS, Policy, Rendering, RenderRefusal, RuntimeVersionSkew, Seat, render
from modeldeployment.render.image import mirrored
from render_worlds import deployment, facts, instance_type, main, role


def synthesized(engine: str, version: str | None, maker: str, family: str, *runtimes: str) -> Rendering:
    status = {"manufacturer": maker, "family": family, "runtimeVersions": list(runtimes)}
    stated: dict[str, Any] = {} if version is None else {"version": version}
    return render(deployment(role(image=None), engine=engine, **stated), facts(instance_type(status=status)))


def image_of(rendering: Rendering) -> object:
    return main(rendering.roles[0].template.pod(Seat(0, 0)))["image"]


@pytest.mark.parametrize(
    ("engine", "version", "maker", "family", "runtime", "image"),
    [
        pytest.param("vLLM", "0.25.1", "nvidia", "ampere", "12.9", "cuda12.9-vllm0.25.1", id="G1"),
        pytest.param("vLLM", "0.23.0", "ascend", "910C", "9.1", "cann9.1-a3-vllm0.23.0", id="G2"),
        pytest.param("SGLang", "0.5.18", "ascend", "910B", "8.2", "cann8.2-910b-sglang0.5.18", id="G3"),
        pytest.param("vLLM", "0.20.2", "ascend", "310P", "8.0", "cann8.0-310p-vllm0.20.2", id="G4"),
        pytest.param("SGLang", "0.5.7", "amd", "", "6.4", "rocm6.4-sglang0.5.7", id="G5"),
        pytest.param("SGLang", "0.5.12", "thead", "", "13.0", "hggc13.0-sglang0.5.12", id="G6"),
        pytest.param("vLLM", "0.20.2", "ascend", "950", "9.1", "cann9.1-950-vllm0.20.2", id="ascend-950"),
        pytest.param("vLLM", "0.20.2", "metax", "", "3.2", "maca3.2-vllm0.20.2", id="metax"),
        pytest.param("vLLM", "0.20.2", "mthreads", "", "4.1", "musa4.1-vllm0.20.2", id="mthreads"),
        pytest.param("vLLM", "0.20.2", "iluvatar", "", "4.3", "corex4.3-vllm0.20.2", id="iluvatar"),
        pytest.param("vLLM", "0.20.2", "hygon", "", "25.04", "dtk25.04-vllm0.20.2", id="hygon"),
    ],
)
def test_the_runner_image_names_backend_runtime_variant_and_engine(
    engine: str, version: str, maker: str, family: str, runtime: str, image: str
) -> None:
    assert image_of(synthesized(engine, version, maker, family, runtime)) == f"gpustack/runner:{image}"


@pytest.mark.parametrize(
    ("version", "maker", "family", "runtimes", "reason", "says", "retryable"),
    [
        pytest.param(
            "1", "cambricon", "", ["1"], "ImageNotSynthesizable",
            'manufacturer "cambricon" has no runner backend, so the role must name an image', False, id="G7",
        ),
        pytest.param(
            "1", "ascend", "910", ["9.1"], "ImageNotSynthesizable",
            'ascend family "910" has no runner backend variant, so the role must name an image', False, id="G8",
        ),
        pytest.param(
            "1", "ascend", "910b", ["9.1"], "ImageNotSynthesizable", 'family "910b" has no runner', False, id="G8-case"
        ),
        pytest.param(
            "1", "acme", "", ["1"], "ImageNotSynthesizable", 'manufacturer "acme" has no runner backend', False,
            id="unknown-maker",
        ),
        pytest.param(
            "1", "", "", ["1"], "InstanceTypeNotReady", "the instance type has not observed its hardware yet", True,
            id="G9-hardware",
        ),
        pytest.param(
            "1", "nvidia", "", [], "RuntimeVersionNotObserved",
            "the instance type has not observed a runtime version yet", True, id="G9-runtime",
        ),
        pytest.param(
            None, "nvidia", "", ["1"], "EngineVersionMissing", "engine version is empty", False, id="G9-version"
        ),
    ],
)  # fmt: skip
def test_an_image_that_cannot_be_put_together_is_refused(
    version: str | None, maker: str, family: str, runtimes: list[str], reason: str, says: str, retryable: bool
) -> None:
    with pytest.raises(RenderRefusal) as refusal:
        synthesized("vLLM", version, maker, family, *runtimes)
    assert refusal.value.reason == RefusalReason(reason)
    assert refusal.value.role == "server"
    assert refusal.value.retryable is retryable
    assert refusal.value.message.startswith('role "server" names no image and none could be synthesized: ')
    assert says in refusal.value.message
    assert "spec.engine.image" in refusal.value.message


def test_a_roles_image_wins_over_the_engines_and_that_over_the_formula() -> None:
    both = deployment(role(image="mine:1"), image="ours:1", version="0.25.1")
    engines = deployment(role(image=None), image="ours:1", version="0.25.1")
    assert image_of(render(both, facts())) == "mine:1"
    assert image_of(render(engines, facts())) == "ours:1"


def test_a_stated_image_needs_nothing_observed() -> None:
    bare = instance_type(status={"manufacturer": "", "runtimeVersions": []})
    assert image_of(render(deployment(role(resources={"accelerator": 0})), facts(bare))) == "vllm/vllm-openai:v0.25.1"


def test_a_pool_of_several_runtimes_gets_the_lowest_and_a_notice() -> None:
    rendering = synthesized("vLLM", "0.25.1", "nvidia", "", "12.10", "12.9", "13.0")
    assert image_of(rendering) == "gpustack/runner:cuda12.9-vllm0.25.1"
    assert rendering.notices == (RuntimeVersionSkew("server", taken="12.9", skipped=("12.10", "13.0")),)


def test_a_pool_of_one_runtime_or_a_stated_image_gives_no_notice() -> None:
    several = instance_type(status={"runtimeVersions": ["12.8", "12.9"]})
    assert synthesized("vLLM", "0.25.1", "nvidia", "", "12.9").notices == ()
    assert render(deployment(), facts(several)).notices == ()


def test_every_maker_with_a_runner_backend_has_its_row_above() -> None:
    backends = {maker.name: maker.runner for maker in MAKERS.values()}
    assert backends == {
        "amd": "rocm",
        "ascend": "cann",
        "cambricon": "",
        "hygon": "dtk",
        "iluvatar": "corex",
        "metax": "maca",
        "mthreads": "musa",
        "nvidia": "cuda",
        "thead": "hggc",
    }
    assert [maker.name for maker in MAKERS.values() if maker.variants is not None] == ["ascend"]


MIRROR, NAMESPACE = {"registry": "mirror.corp:5000"}, {"registry_namespace": "team/hub"}


@pytest.mark.parametrize(
    ("reference", "settings", "expected"),
    [
        pytest.param("gpustack/runner:1", {}, "gpustack/runner:1", id="no-mirror"),
        pytest.param("gpustack/runner:1", MIRROR, "mirror.corp:5000/gpustack/runner:1", id="registry"),
        pytest.param("gpustack/runner:1", NAMESPACE, "team/hub/runner:1", id="namespace"),
        pytest.param("gpustack/runner:1", MIRROR | NAMESPACE, "mirror.corp:5000/team/hub/runner:1", id="both"),
        pytest.param("runner:1", MIRROR | NAMESPACE, "mirror.corp:5000/team/hub/runner:1", id="a-bare-name"),
        pytest.param("runner:1", MIRROR, "mirror.corp:5000/runner:1", id="a-bare-name-without-namespace"),
        pytest.param("quay.io/gpustack/runner:1", {}, "quay.io/gpustack/runner:1", id="host-without-mirror"),
        pytest.param("quay.io/gpustack/runner:1", MIRROR, "mirror.corp:5000/gpustack/runner:1", id="host-replaced"),
        pytest.param("quay.io/gpustack/runner:1", NAMESPACE, "quay.io/team/hub/runner:1", id="host-kept"),
        pytest.param("own:5000/runner:1", MIRROR | NAMESPACE, "mirror.corp:5000/team/hub/runner:1", id="host-by-port"),
        pytest.param("localhost/runner:1", MIRROR, "mirror.corp:5000/runner:1", id="host-by-name"),
        pytest.param("local/runner:1", MIRROR, "mirror.corp:5000/local/runner:1", id="a-namespace-is-no-host"),
        pytest.param("gpustack/runner@sha256:ab", MIRROR, "mirror.corp:5000/gpustack/runner@sha256:ab", id="digest"),
    ],
)
def test_the_operators_own_images_come_through_the_clusters_mirror(
    reference: str, settings: dict[str, Any], expected: str
) -> None:
    assert mirrored(reference, Policy(**settings)) == expected


def test_the_runner_comes_through_the_mirror_and_a_stated_image_does_not() -> None:
    policy = Policy(registry="mirror.corp", registry_namespace="hub")
    runner = render(deployment(role(image=None), version="0.25.1"), facts(policy=policy))
    assert image_of(runner) == "mirror.corp/hub/runner:cuda12.9-vllm0.25.1"
    assert image_of(render(deployment(role(image="mine/own:1")), facts(policy=policy))) == "mine/own:1"
    engines = deployment(role(image=None), image="ours/own:1", version="0.25.1")
    assert image_of(render(engines, facts(policy=policy))) == "ours/own:1"
