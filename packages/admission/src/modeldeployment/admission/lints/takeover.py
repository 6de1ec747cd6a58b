"""Roles whose user took the command line over, and what they lose by it."""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.examples import GONE, Example
from modeldeployment.admission.facts import Actor
from modeldeployment.admission.lints.cautioning import lint
from modeldeployment.admission.patching import remove
from modeldeployment.admission.rule import Row
from modeldeployment.admission.subjects import DeploymentReview
from modeldeployment.admission.verdict import Caution
from modeldeployment.api import keys

_COMMAND: Final = ["vllm", "serve", "/models/qwen"]
_BOUND: Final = {
    f"metadata.annotations[{keys.SCALER_BINDING}]": '{"scalerName":"qwen-72b","scalerUID":"u-1","term":1}',
    "spec.kvCache": GONE,
}


@lint(
    trigger=Example({"spec.roles[0].command": _COMMAND}),
    near_miss=Example({"spec.roles[0].command": _COMMAND, "spec.kvCache": GONE}),
)
def cache_not_attached(review: DeploymentReview) -> Iterator[Caution]:
    """MDW15 | spec.roles[*].command | A role with its own command gets no cache client.

    The operator writes neither the connector's arguments nor the client's environment for it, so the pool in
    `spec.kvCache` is not attached unless the command does it. `CacheAttached` reads Unknown, and
    `status.roles[].unmanaged` is true.

    Way out: `extraArgs` instead of `command`, or the client's configuration in the command.

    Source: spec 1 §The three override tiers.
    """
    if review.new.spec.kv_cache is None:
        return
    for each in review.roles:
        if not each.role.managed:
            yield Caution(
                "MDW15",
                f"{each.path}.command",
                None,
                why="the operator configures no cache client for a role with its own command, so spec.kvCache is not "
                "attached to it and CacheAttached stays Unknown",
                way_out="configure the client in the command, or use extraArgs instead of command",
            )


@lint(
    trigger=Example(
        {**_BOUND, "spec.roles[0].command": _COMMAND},
        old={**_BOUND, "spec.roles[0].command": _COMMAND},
        actor=Actor.OPERATOR,
    ),
    near_miss=Example(_BOUND, old=_BOUND, actor=Actor.OPERATOR),
)
def scaler_blind(review: DeploymentReview) -> Iterator[Caution]:
    """MDW16 | spec.roles[*].command | A scaler cannot read a role with its own command.

    Which signals its engine reports is unknown, so the scaler's own admission refuses such a role. This deployment is
    bound by a scaler all the same: its next edit will be refused, and it plans nothing for want of readings.

    Way out: a managed role in another deployment, or no scaler: delete it, and the counts are yours again.

    Source: spec 3 §Limitations.
    """
    if keys.SCALER_BINDING not in review.new.metadata.annotations:
        return
    for each in review.roles:
        if not each.role.managed:
            yield Caution(
                "MDW16",
                f"{each.path}.command",
                None,
                why="a scaler is bound to this deployment and cannot read the signals of a role with its own command, "
                "so it plans nothing",
                way_out="delete the scaler, or create a deployment whose role has no command",
            )


@lint(
    trigger=Example(
        {"spec.roles[0].command": _COMMAND, "spec.roles[0].extraArgs": ["--max-model-len=4096"], "spec.kvCache": GONE}
    ),
    near_miss=Example({"spec.roles[0].command": [*_COMMAND, "--max-model-len=4096"], "spec.kvCache": GONE}),
)
def arguments_inert(review: DeploymentReview) -> Iterator[Caution]:
    """MDW17 | spec.roles[*].extraArgs | Beside a command, extraArgs are read by nobody.

    A `command` is the whole command line. `extraArgs` written beside it reach no engine, are refused nothing, and are
    no source of parallel degrees.

    Way out: move them into a command; since `command` is frozen, that is another deployment.

    Source: spec 1 §The three override tiers.
    """
    for each in review.roles:
        if each.role.extra_args and not each.role.managed:
            field = f"{each.path}.extraArgs"
            yield Caution(
                "MDW17",
                field,
                list(each.role.extra_args),
                why="the role has its own command, which is its whole command line, so nobody reads these arguments",
                way_out="move them into command, or drop them",
                patch=(remove(field),),
            )


LINTS: Final[tuple[Row[Any, Any], ...]] = (cache_not_attached, scaler_blind, arguments_inert)
