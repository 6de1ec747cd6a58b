"""What holds of any engine whatsoever."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.api import RoleKind
from modeldeployment.api.choices import EngineName
from modeldeployment.render import ENGINES
from modeldeployment.scaler.planning.observed import RoleReading
from modeldeployment.scaler.sampling import growth
from modeldeployment.scaler.sampling.growth import Growth
from modeldeployment.scaler.sampling.readings import Heard, reading
from modeldeployment.scaler.sampling.tallies import Fault, Tally, tally
from sampling_engines import NOON, SGLANG, VLLM, sglang, told, vllm

NAMES = st.sampled_from(list(EngineName))
KINDS = st.sampled_from(list(RoleKind))
WORDS = (
    *("vllm:num_requests_running", "vllm:num_requests_waiting", "sglang:num_running_reqs", "sglang:num_queue_reqs"),
    *("vllm:prompt_tokens_total", "vllm:time_to_first_token_seconds_bucket", "sglang:token_usage", "_sum", "_count"),
    *(
        '{engine="0"}',
        '{le="0.5"}',
        '{le="+Inf"}',
        '{tp_rank="1"}',
        "{",
        "}",
        '"',
        "\\",
        "\n",
        " ",
        "NaN",
        "+Inf",
        "-1",
        "1e308",
        "7",
    ),
)
BODIES = st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=40).map(lambda words: "".join(words).encode())


@given(st.binary(max_size=200) | BODIES, NAMES, KINDS)
def test_reading_never_raises_on_any_bytes(body: bytes, name: EngineName, kind: RoleKind) -> None:
    found = tally(body, ENGINES[name].signals, kind)
    assert isinstance(found, Fault) or min(found.running, found.waiting, *found.counts.values(), 0) == 0


counters = st.integers(0, 3) | st.integers(0, 10**6)


@st.composite
def counted(draw: st.DrawFn) -> str:
    waits = st.lists(st.sampled_from([0.05, 0.3, 0.7, 9.0]), max_size=4)
    return vllm(
        running=draw(counters),
        prompt=draw(counters),
        hits=draw(counters),
        generation=draw(counters),
        first=draw(waits),
        between=draw(waits),
    )


@st.composite
def counted_by_sglang(draw: st.DrawFn) -> str:
    modes = st.sampled_from(["input", "device_hit", "host_hit", "storage_hit"])
    return sglang(
        queued=draw(counters),
        prompt=draw(st.none() | counters),
        generation=draw(st.none() | counters),
        effective=draw(st.dictionaries(modes, counters)),
    )


def together(before: Tally, now: Tally, name: EngineName, seconds: int) -> RoleReading:
    return reading(1, [Heard(now, growth.between(before, now, ENGINES[name].signals), seconds * 10**9)], [], NOON)


@given(
    st.tuples(st.just(EngineName.VLLM), counted(), counted())
    | st.tuples(st.just(EngineName.SGLANG), counted_by_sglang(), counted_by_sglang()),
    st.integers(1, 900),
)
def test_nothing_of_a_reading_is_below_zero(said: tuple[EngineName, str, str], seconds: int) -> None:
    name, before, now = said
    found = together(told(before, name), told(now, name), name, seconds)
    amounts = (
        found.prompt_tokens_per_second,
        found.generation_tokens_per_second,
        found.kv_cache_usage,
        found.ttft_milliseconds,
        found.itl_milliseconds,
    )
    assert all(amount.nanos >= 0 for amount in amounts if amount is not None)


steps = st.lists(st.tuples(counters, counters, counters), min_size=3, max_size=3)


@given(steps)
def test_splitting_an_interval_conserves_tokens(grown: list[tuple[int, int, int]]) -> None:
    """Of two parts of an interval and of the whole; hits are never more than what was asked for here."""
    prompts = hits = generated = 0
    said: list[Tally] = []
    for prompt, hit, generation in grown:
        prompts, hits, generated = prompts + prompt, hits + min(hit, prompt), generated + generation
        said.append(told(vllm(prompt=prompts, hits=hits, generation=generated)))
    first, second = growth.between(said[0], said[1], VLLM), growth.between(said[1], said[2], VLLM)
    whole = growth.between(said[0], said[2], VLLM)
    assert isinstance(first, Growth)
    assert isinstance(second, Growth)
    assert isinstance(whole, Growth)
    assert (first.prompt or 0) + (second.prompt or 0) == whole.prompt
    assert (first.generation or 0) + (second.generation or 0) == whole.generation


@given(steps)
def test_splitting_an_interval_of_sglang_conserves_tokens(grown: list[tuple[int, int, int]]) -> None:
    computed = held = generated = 0
    said: list[Tally] = []
    for one, hit, generation in grown:
        computed, held, generated = computed + one, held + hit, generated + generation
        body = sglang(effective={"input": computed, "device_hit": held}, generation=generated, prompt=computed + held)
        said.append(told(body, EngineName.SGLANG))
    parts = [growth.between(said[0], said[1], SGLANG), growth.between(said[1], said[2], SGLANG)]
    whole = growth.between(said[0], said[2], SGLANG)
    assert whole is not None
    assert sum((each.prompt or 0) for each in parts if each is not None) == whole.prompt == grown[1][0] + grown[2][0]


@given(st.integers(0, 10**9), st.integers(1, 300), st.integers(1, 64))
def test_a_rate_over_its_time_is_the_tokens_again(tokens: int, seconds: int, engines: int) -> None:
    said = told(vllm())
    one = Heard(said, Growth(float(tokens), None, growth.Waits(), growth.Waits()), seconds * 10**9)
    found = reading(engines, [one] * engines, [], NOON).prompt_tokens_per_second
    assert found is not None
    assert abs(Fraction(found.nanos, 10**9) * seconds - tokens * engines) <= Fraction(seconds, 1000)
