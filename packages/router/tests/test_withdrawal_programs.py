"""Which version of a router runs, and that only what was measured proves anything (decisions D8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.api.choices import RouterName
from modeldeployment.router.withdrawal import program, unproven, version

LLM_D, VLLM, SGLANG = RouterName.LLM_D, RouterName.VLLM, RouterName.SGLANG


@pytest.mark.parametrize(
    ("router", "image", "running"),
    [
        (LLM_D, "gpustack/llm-router:v0.1.0", "0.10.0"),
        (VLLM, "gpustack/llm-router:v0.1.0", "0.1.15"),
        (SGLANG, "mirror.example:5000/gpustack/llm-router:v0.1.0@sha256:0", "0.3.1"),
        (VLLM, "gpustack/llm-router:v0.2.0", ""),
        (LLM_D, "gpustack/llm-router:v0.2.0", "0.10.0"),
        (VLLM, "vllm/vllm-router:v0.1.17", "0.1.17"),
        (VLLM, "registry:5000/vllm-router:0.1.17-cu129", "0.1.17"),
        (SGLANG, "lmsysorg/sgl-model-gateway:v0.3.2", "0.3.2"),
        (SGLANG, "lmsysorg/sglang-router:00.03.2", "0.3.2"),
        (LLM_D, "ghcr.io/llm-d/llm-d-router-endpoint-picker:v0.10.0", "0.10.0"),
        (VLLM, "lmsysorg/sglang-router:0.3.2", ""),
        (VLLM, "vllm/vllm-router:latest", ""),
        (VLLM, "vllm/vllm-router", ""),
        (VLLM, "vllm/vllm-router@sha256:0", ""),
        (VLLM, "registry:5000/vllm-router", ""),
        (VLLM, "vllm/vllm-router:0.1", ""),
        (VLLM, "vllm/vllm-router:0.1.17rc1x", ""),
        (VLLM, "", ""),
        (VLLM, ":0.1.17", ""),
    ],
)
def test_a_version_is_read_from_an_image(router: RouterName, image: str, running: str) -> None:
    assert version(router, image) == running


@pytest.mark.parametrize(
    ("router", "running", "known"),
    [
        (VLLM, "0.1.14", False),
        (VLLM, "0.1.15", True),
        (VLLM, "0.1.16", True),
        (VLLM, "0.1.17", True),
        (VLLM, "0.1.18", True),
        (VLLM, "0.2.0", False),
        (SGLANG, "0.3.0", False),
        (SGLANG, "0.3.1", True),
        (SGLANG, "0.4.0", False),
        (SGLANG, "1.13.0", False),
        (LLM_D, "0.10.0", True),
        (LLM_D, "0.11.0", False),
        (LLM_D, "", False),
        (LLM_D, "new", False),
    ],
)
def test_a_version_outside_of_what_was_measured_has_no_proof(router: RouterName, running: str, known: bool) -> None:
    assert (program(router, running) is not None) is known


def test_why_a_version_proves_nothing_is_told_with_the_way_out() -> None:
    assert unproven(VLLM, "") == (
        "runs an image that does not tell the version of vllm-router; set spec.router.image to one named vllm-router "
        "and tagged with its version, 0.1.15 up to 0.1.17 or 0.1.17 up to 0.2.0"
    )
    assert unproven(SGLANG, "1.13.0") == (
        "runs sglang-gateway 1.13.0, of which it is not known how it lets go of a replica; set spec.router.image to "
        "0.3.1 up to 0.4.0"
    )


@given(st.text(max_size=60), st.sampled_from(RouterName))
def test_any_image_is_read(image: str, router: RouterName) -> None:
    running = version(router, image)
    assert running == "" or program(router, running) is None or running.count(".") == 2
