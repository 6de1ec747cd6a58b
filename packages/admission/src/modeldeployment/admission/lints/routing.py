"""Routers that do less than their owner expects."""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.examples import Example
from modeldeployment.admission.facts import Needs
from modeldeployment.admission.lints import floors
from modeldeployment.admission.lints.cautioning import lint
from modeldeployment.admission.lints.pairing import PAIR
from modeldeployment.admission.lints.seen import starts_shell, stated_version
from modeldeployment.admission.patching import put, remove, replace
from modeldeployment.admission.rule import Row
from modeldeployment.admission.subjects import DeploymentReview
from modeldeployment.admission.verdict import Caution
from modeldeployment.api import RoleKind
from modeldeployment.router import Policies

SCALE_OUT: Final = "--enable-scale-out"


@lint(
    trigger=Example({"spec.router": {"name": "llm-d-router"}}),
    near_miss=Example({"spec.router": {"name": "llm-d-router"}, "spec.roles[0].extraArgs": ["--enable_scale_out"]}),
    needs=Needs.INSTANCE_TYPES,
)
def tokens_not_counted(review: DeploymentReview) -> Iterator[Caution]:
    """MDW08 | spec.roles[*].extraArgs | llm-d-router has vLLM count tokens, which it does under a flag alone.

    Without an Encode role the router posts to `/v1/chat/completions/render`. vLLM serves that under
    `--enable-scale-out` alone, and answers 404 otherwise: no count comes back, a pair's requests all go to Decode, and
    nothing reports it. The flag registers endpoints and changes nothing else. It counts in every spelling vLLM reads as
    it.

    Way out: the flag on every vLLM role, with vLLM 0.30.0 or vllm-ascend 0.30.0rc1 at least; an older engine may refuse
    its command line, so a version known to be older is told by MDW19 instead.

    Source: spec 2 §Counting engine tokens.
    """
    if not floors.counts_tokens(review):
        return
    for each in review.roles:
        if SCALE_OUT in each.given or starts_shell(each):
            continue
        stated, floor = stated_version(review, each), floors.floor(review, each, counting=True)
        if stated and floor and stated.version < floor.version:
            continue
        managed = each.role.managed
        field = f"{each.path}.extraArgs"
        length = len(each.role.extra_args)
        yield Caution(
            "MDW08",
            each.stream_path,
            list(each.stream),
            why=f"llm-d-router counts tokens on the engine, which vLLM does under {SCALE_OUT} alone; without it "
            + ("Prefill receives nothing and no error is reported" if review.pair else "no count comes back, silently"),
            way_out=f"add {SCALE_OUT}",
            patch=(put(f"{field}[{length}]", SCALE_OUT) if length else put(field, [SCALE_OUT]),) if managed else (),
        )


@lint(
    trigger=Example({**PAIR, "spec.router.disaggregationThresholdTokens": 0}),
    near_miss=Example({**PAIR, "spec.router.disaggregationThresholdTokens": 1}),
)
def threshold_of_zero(review: DeploymentReview) -> Iterator[Caution]:
    """MDW09 | spec.router.disaggregationThresholdTokens | A threshold of zero splits no request at all.

    The router's decider answers "do not split" on a zero before it reads anything else, so Decode serves every request
    whole and Prefill stands idle. It does not mean "always split"; that is a threshold of 1. Beside an Encode role the
    encoder's output goes to Decode.

    Way out: a number of tokens from 1 up, or no value for the router's default.

    Source: spec 2 §Router fields, facts encode §6.
    """
    router = review.new.spec.router
    if router and router.disaggregation_threshold_tokens == 0 and review.pair:
        field = "spec.router.disaggregationThresholdTokens"
        whole = "every request, encoded or not," if RoleKind.ENCODE in review.kinds else "every request"
        yield Caution(
            "MDW09",
            field,
            0,
            why=f"0 switches splitting off: Decode serves {whole} alone and Prefill receives nothing",
            way_out="leave it out for the default, or set 1 to split whatever no cache holds",
            patch=(remove(field),),
        )


@lint(
    trigger=Example({"spec.router": {"name": "vllm-router", "replicas": 2}}),
    near_miss=Example(
        {"spec.router": {"name": "vllm-router", "replicas": 2, "extraArgs": ["--policy", "consistent_hash"]}}
    ),
)
def prefix_state_not_shared(review: DeploymentReview) -> Iterator[Caution]:
    """MDW10 | spec.router.replicas | Several router Pods that score prefix caches each remember something else.

    A router that scores on prefixes holds that state per Pod; upstream reports a hit rate lower by 10 to 20 percent
    where two share the requests. `llm-d-router` always scores prefixes; `vllm-router` and `sglang-gateway` do under
    `cache_aware`, which is their default.

    Way out: one replica; or, on the two with a policy flag, a policy that keeps no such state, such as
    `consistent_hash` (`vllm-router`) or `prefix_hash` (`sglang-gateway`). Availability may well be worth the price.

    Source: spec 2 §Router configuration, facts routing §6.
    """
    router, row = review.new.spec.router, review.router
    if router is None or row is None or (router.replicas or 1) < 2:
        return
    if row.prefix_policies(router.extra_args, pair=review.pair):
        yield Caution(
            "MDW10",
            "spec.router.replicas",
            router.replicas,
            why="each router Pod remembers prefixes of its own, so with several of them 10 to 20 % fewer prompts find "
            "their cache",
            way_out="set 1, "
            + ("pick a policy without such state, " if isinstance(row.policy, Policies) else "")
            + "or take it as the price of availability",
            patch=(replace("spec.router.replicas", 1),),
        )


@lint(
    trigger=Example(
        {
            "spec.router": {
                "name": "vllm-router",
                "requestTimeoutSeconds": 120,
                "extraArgs": ["--request-timeout-secs", "60"],
            }
        }
    ),
    near_miss=Example({"spec.router": {"name": "vllm-router", "extraArgs": ["--request-timeout-secs", "60"]}}),
)
def timeout_said_twice(review: DeploymentReview) -> Iterator[Caution]:
    """MDW26 | spec.router.requestTimeoutSeconds | A timeout among the router's arguments takes the field's place.

    `vllm-router` and `sglang-gateway` are told `requestTimeoutSeconds` by `--request-timeout-secs`. A user's own flag
    wins, and the operator then writes none: the field reads as if it held, and changing it changes nothing.

    Way out: say it once, best in the field.

    Source: facts router-rendering §5.
    """
    router, row = review.new.spec.router, review.router
    if router is None or row is None or router.request_timeout_seconds is None or not row.timeout_argument:
        return
    given = any(argument.partition("=")[0] == row.timeout_argument for argument in router.extra_args)
    if given:
        yield Caution(
            "MDW26",
            "spec.router.requestTimeoutSeconds",
            router.request_timeout_seconds,
            why=f"{row.timeout_argument} in spec.router.extraArgs takes its place, so the field says "
            f"{router.request_timeout_seconds} s and nothing follows from it",
            way_out=f"drop {row.timeout_argument} from spec.router.extraArgs, or leave the field out",
        )


LINTS: Final[tuple[Row[Any, Any], ...]] = (
    tokens_not_counted,
    threshold_of_zero,
    prefix_state_not_shared,
    timeout_said_twice,
)
