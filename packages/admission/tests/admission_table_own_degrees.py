"""Our own rows: parallel degrees that cannot be read, do not fit or are balanced in no managed shape."""

from collections.abc import Iterator
from typing import Any, Final

from admission_case import Case, Refused
from admission_table_b_owned import ARGUMENTS, COMMAND, ENV, SGLANG
from admission_table_k_router import role
from modeldeployment.admission.examples import GONE

_CARDS: Final = "spec.roles[0].resources.accelerator"
_TENSOR: Final = "--tensor-parallel-size"
_UNREADABLE: Final = {
    "missing": ([_TENSOR], _TENSOR),
    "missing-before-a-flag": ([_TENSOR, "--seed"], _TENSOR),
    "word": (["-tp", "two"], _TENSOR),
    "fraction": (["-tp=1.5"], _TENSOR),
    "zero": ([f"{_TENSOR}=0"], _TENSOR),
    "negative": ([_TENSOR, "-2"], _TENSOR),
    "huge": ([f"{_TENSOR}={'9' * 100}"], _TENSOR),
    "underscores": (["--pipeline_parallel_size=x"], "--pipeline-parallel-size"),
    "prefix": (["--tensor-par", "x"], _TENSOR),
    "local-below-zero": (["-dpl", "-1"], "--data-parallel-size-local"),
    "abbreviation-with-equals": (["-t=2"], _TENSOR),
    "glued": (["-tp2"], _TENSOR),
    "last-wins": (["-tp", "1", "-tp", "x"], _TENSOR),
}
_WIDE: Final = {
    "tensor": (["-tp", "3"], "tensorParallel 3"),
    "product": (["-tp", "2", "-pp", "2"], "tensorParallel 2 x pipelineParallel 2"),
    "context": (["-pcp", "3"], "prefillContextParallel 3"),
    "local-data": (["-dp", "8", "-dpl", "4"], "dataParallelLocal 4"),
    "data": (["-dp", "4"], "dataParallel 4"),
}
_FITTING: Final = {
    "exactly": ["-tp", "2"],
    "decode-context": ["-tp", "2", "-dcp", "2"],
    "expert": ["-tp", "2", "--enable-expert-parallel"],
    "one-local": ["-tp", "2", "-dp", "8", "-dpl", "1"],
    "wired": ["-tp", "16", "--nnodes", "2"],
    "after-the-end": ["--", "-tp", "16"],
    "ambiguous": ["--data-parallel", "16"],
}


_ASCEND: Final[dict[str, Any]] = {"spec.kvCache": GONE, "spec.router.name": "llm-d-router"}
_TWO: Final = ["-tp", "2"]
_NARROW: Final = (
    Refused(
        "MD057",
        "spec.roles[0]",
        (
            "role prefill",
            "degree 1",
            "below the 2",
            "role decode",
            "spec.roles[0].extraArgs",
            "spec.roles[1].extraArgs",
        ),
    ),
)


def _halves(prefill: dict[str, Any], decode: dict[str, Any]) -> dict[str, Any]:
    both = {"prefill": ("Prefill", prefill), "decode": ("Decode", decode)}
    cards = {"resources": {"accelerator": 2}}
    return {"spec.roles": [role(name, kind) | cards | fields for name, (kind, fields) in both.items()]}


def _on(name: str, *arguments: str) -> dict[str, Any]:
    return {"instanceType": name, "extraArgs": list(arguments)}


def _narrower() -> Iterator[Case]:
    """A Prefill half with fewer tensor ranks than its Decode half (facts rendering §14 B10 and B11)."""
    apart = _halves(_on("ascend-910b"), _on("ascend-910b", *_TWO))
    yield Case("N-narrow-B11", _ASCEND | apart, refused=_NARROW)
    yield Case("N-narrow-B10", _ASCEND | _halves(_on("ascend-910b", *_TWO), _on("ascend-910b")))
    yield Case("N-narrow-alike", _ASCEND | _halves(_on("ascend-910b", *_TWO), _on("ascend-910b", *_TWO)))
    yield Case("N-narrow-prefill-alone", _ASCEND | _halves(_on("ascend-910b"), _on("h20-8x", *_TWO)), refused=_NARROW)
    yield Case("N-narrow-decode-alone", _ASCEND | _halves(_on("h20-8x"), _on("ascend-910b", *_TWO)), refused=_NARROW)
    yield Case("N-narrow-nvidia", _ASCEND | _halves(_on("h20-8x"), _on("h20-8x", *_TWO)))
    yield Case("N-narrow-sglang", SGLANG | _ASCEND | _halves(_on("ascend-910b"), _on("ascend-910b", *_TWO)))
    yield Case("N-narrow-unrouted", {"spec.kvCache": GONE} | apart)
    yield Case("N-narrow-vllm-router", _ASCEND | {"spec.router.name": "vllm-router"} | apart)
    yield Case("N-narrow-router-added", _ASCEND | apart, old={"spec.kvCache": GONE} | apart, refused=_NARROW)
    own = {"instanceType": "ascend-910b", "command": ["vllm", "serve", "/m"]}
    wide = {"instanceType": "ascend-910b", "command": ["vllm", "serve", "/m", *_TWO]}
    yield Case("N-narrow-take-over", _ASCEND | _halves(own, wide))
    yield Case(
        "N-narrow-beside-a-take-over",
        _ASCEND | _halves(_on("ascend-910b"), wide),
        refused=(Refused("MD057", "spec.roles[0]", ("role prefill", "spec.roles[1].command")),),
    )
    open_yet = _ASCEND | _halves(_on("unobserved"), _on("unobserved", *_TWO))
    yield Case("N-narrow-unobserved", open_yet, unready=("spec.roles[0].instanceType", "unobserved", "retry"))
    yield Case("N-narrow-unobserved-stored", open_yet, old=open_yet)
    yield Case("N-narrow-unobserved-alike", _ASCEND | _halves(_on("unobserved"), _on("unobserved")))


def _unreadable(flag: str, way_out: str = COMMAND) -> tuple[Refused, ...]:
    return (Refused("MD014", "spec.roles[0]", ("role server", flag, way_out)),)


def _wide(cards: int, width: int, *names: str) -> tuple[Refused, ...]:
    said = (f"{cards} accelerator", f"width of {width}", "per member", "size does not rescue it", *names)
    return (Refused("MD015", _CARDS, said),)


def _size(size: str) -> dict[str, Any]:
    return {ENV: [{"name": "VLLM_DP_SIZE", "value": size}]}


def _rows() -> Iterator[Case]:
    for name, (arguments, flag) in _UNREADABLE.items():
        yield Case(f"N-degree-{name}", {ARGUMENTS: arguments}, refused=_unreadable(flag))
    for name, (arguments, factors) in _WIDE.items():
        width = 3 if factors.endswith("3") else 4
        yield Case(f"N-width-{name}", {_CARDS: 2, ARGUMENTS: arguments}, refused=_wide(2, width, factors))
    for name, arguments in _FITTING.items():
        yield Case(f"N-width-{name}", {_CARDS: 2, ARGUMENTS: arguments})


TABLE: Final[tuple[Case, ...]] = (
    *_rows(),
    *_narrower(),
    Case("N-degree-sglang-prefix", SGLANG | {ARGUMENTS: ["--tp", "x"]}, refused=_unreadable("--tp-size")),
    Case("N-degree-sglang-ambiguous", SGLANG | {ARGUMENTS: ["--t", "x"]}),
    Case("N-degree-sglang-exact", SGLANG | {ARGUMENTS: ["--tp-size", "x"]}, refused=_unreadable("--tp-size")),
    Case(
        "N-degree-take-over",
        {COMMAND: ["vllm", "serve", "/m", "-tp", "x"]},
        refused=_unreadable(_TENSOR, "whole number"),
    ),
    Case("N-degree-beside-command", {COMMAND: ["vllm", "serve", "/m"], ARGUMENTS: ["-tp", "x"]}),
    Case("N-degree-in-a-shell", {COMMAND: ["sh", "-c", "vllm serve /m -tp x"]}),
    Case("N-degree-variable", _size("two"), refused=_unreadable("VLLM_DP_SIZE")),
    Case("N-degree-variable-zero", _size("0"), refused=_unreadable("VLLM_DP_SIZE")),
    Case("N-degree-variable-overruled", _size("two") | {ARGUMENTS: ["-dp", "2"], _CARDS: 2}),
    Case("N-degree-variable-no-local", _size("two") | {ARGUMENTS: ["-dpl", "0"]}),
    Case("N-degree-variable-sglang", SGLANG | _size("two")),
    Case("N-width-variable", _size("2"), refused=_wide(1, 2, "dataParallel 2")),
    Case("N-width-size", {ARGUMENTS: ["-tp", "2"], "spec.roles[0].size": 2}, refused=_wide(1, 2, "tensorParallel 2")),
    Case(
        "N-width-take-over",
        {COMMAND: ["vllm", "serve", "/m", "-tp", "2"]},
        refused=_wide(1, 2, COMMAND),
    ),
    Case(
        "N-width-none", {"spec.roles[0].instanceType": "cpu", "spec.roles[0].resources": GONE, ARGUMENTS: ["-tp", "8"]}
    ),
    Case("N-width-zero-cards", {_CARDS: 0, ARGUMENTS: ["-tp", "8"]}),
    Case(
        "N-width-huge",
        {ARGUMENTS: ["-tp", "2147483647", "-pp", "2147483647", "-pcp", "2147483647"]},
        refused=_wide(1, 9903520300447984150353281023),
    ),
    Case("N-width-sglang", SGLANG | {ARGUMENTS: ["--tp-size=2", "--dp-size=2"], _CARDS: 2}, refused=_wide(2, 4)),
    Case(
        "N-width-sglang-attention",
        SGLANG | {ARGUMENTS: ["--tp-size=2", "--dp-size=2", "--enable-dp-attention"], _CARDS: 2},
    ),
    Case("N-width-sglang-dwdp", SGLANG | {ARGUMENTS: ["--tp-size=2", "--dp-size=2", "--dwdp-size=2"], _CARDS: 2}),
    Case(
        "N-balance-hybrid-and-rank",
        {ARGUMENTS: ["-dph", "-dpn", "1"]},
        refused=(Refused("MD040", ARGUMENTS, ("different shapes", COMMAND)),),
    ),
    Case("N-balance-external-and-rank", {ARGUMENTS: ["-dpe", "-dpn", "1"]}),
    Case("N-balance-take-over", {COMMAND: ["vllm", "serve", "/m", "-dpm"]}),
    Case(
        "N-balance-prefix",
        {ARGUMENTS: ["--data_parallel_multi"]},
        refused=(Refused("MD040", ARGUMENTS, ("MultiPort",)),),
    ),
    Case("N-balance-sglang", SGLANG | {ARGUMENTS: ["-dpm"]}),
    Case("N-degree-ten-thousand", {ARGUMENTS: ["--tensor-parallel-size=1"] * 10_000}),
)
