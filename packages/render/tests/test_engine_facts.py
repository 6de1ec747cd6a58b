"""What is known of engines and their releases; facts engine-versions §1 and §3, facts encode §2."""

import re

import pytest
from modeldeployment.api.choices import EngineName, RoleKind
from modeldeployment.render import ENGINES, MAKERS, Backend, Use

VLLM, SGLANG = ENGINES[EngineName.VLLM], ENGINES[EngineName.SGLANG]
EVERY: list[Backend] = [backend for engine in ENGINES.values() for backend in engine.backends.values()]


@pytest.mark.parametrize(
    ("backend", "uses", "version"),
    [
        (VLLM.backend("nvidia"), (), "0.29.0"),
        (VLLM.backend("amd"), (), "0.29.0"),
        (VLLM.backend("nvidia"), (Use.COUNTING,), "0.30.0"),
        (VLLM.backend("nvidia"), (Use.ENCODING,), "0.30.0"),
        (VLLM.backend("ascend"), (), "0.23.0"),
        (VLLM.backend("ascend"), (Use.COUNTING,), "0.30.0rc1"),
        (VLLM.backend("ascend"), (Use.ENCODING,), "0.23.0"),
        (SGLANG.backend("nvidia"), (), "0.5.18"),
        (SGLANG.backend("ascend"), (Use.COUNTING, Use.ENCODING), "0.5.18"),
    ],
)
def test_the_oldest_release_follows_from_what_the_engine_is_put_to(
    backend: Backend, uses: tuple[Use, ...], version: str
) -> None:
    assert backend.floor(uses).version == version


@pytest.mark.parametrize("backend", EVERY, ids=lambda backend: backend.name)
def test_floors_ascend_from_one_for_any_use(backend: Backend) -> None:
    def number(version: str) -> tuple[int, ...]:
        assert re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", version)
        return tuple(int(part) for part in version.partition("rc")[0].split("."))

    versions = [number(floor.version) for floor in backend.floors]
    assert backend.floors[0].use is Use.ANY
    assert versions == sorted(versions)
    assert len({floor.use for floor in backend.floors}) == len(backend.floors)


def test_what_fails_at_the_oldest_release_has_a_way_out() -> None:
    known = {backend.title: [(failure.use, failure.way_out) for failure in backend.failures] for backend in EVERY}
    assert known == {
        "vLLM": [(Use.PAIRED_AND_STORED, "a runner image that carries the fix")],
        "vLLM-Ascend": [],
        "SGLang": [
            (Use.PAIRED_OVER_TCP, "the setting model-deployment-tcp-tw-reuse, once the nodes allow the sysctl"),
            (Use.STORED, "nodes with more memory available than that pool and what the engine holds back"),
        ],
    }


def test_backends_differ_by_their_rows_alone() -> None:
    assert {backend.name for backend in EVERY} == {"vllm", "vllm-ascend", "sglang"}
    assert {maker: VLLM.backend(maker).name for maker in ("", *MAKERS)} == {
        maker: "vllm-ascend" if maker == "ascend" else "vllm" for maker in ("", *MAKERS)
    }
    assert {SGLANG.backend(maker).name for maker in ("", *MAKERS)} == {"sglang"}


def test_only_native_vllm_gets_a_device_for_its_direct_leg() -> None:
    assert [backend.name for backend in EVERY if backend.leg_takes_device] == ["vllm"]


def test_a_scaler_reads_what_routers_and_retirement_read_by_the_same_names() -> None:
    for engine in ENGINES.values():
        signals = engine.signals
        assert (signals.running, signals.waiting) == engine.in_flight.always
        assert {signals.running, signals.waiting, signals.usage} == set(engine.metrics.values())
        assert signals.decode_waiting in ("", *engine.in_flight.split)


def test_what_waits_on_a_decode_role_waits_for_a_transfer_too_where_the_engine_says_so() -> None:
    assert SGLANG.signals.queues(RoleKind.DECODE) == ("sglang:num_queue_reqs", "sglang:num_decode_transfer_queue_reqs")
    assert SGLANG.signals.queues(RoleKind.PREFILL) == ("sglang:num_queue_reqs",)
    assert VLLM.signals.queues(RoleKind.DECODE) == ("vllm:num_requests_waiting",)


def test_tokens_are_counted_under_the_names_of_each_engine() -> None:
    assert VLLM.signals.tokens == (
        "vllm:prompt_tokens_total",
        "vllm:generation_tokens_total",
        "vllm:prefix_cache_hits_total",
    )
    assert SGLANG.signals.tokens == (
        "sglang:prompt_tokens_total",
        "sglang:generation_tokens_total",
        "sglang:prefill_effective_tokens_total",
    )
