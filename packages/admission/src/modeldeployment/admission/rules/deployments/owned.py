"""Arguments and variables the operator writes itself.

Source: spec 1 §Operator-owned keys, facts admission §4 rows 12, 13, 19 and 32, and §5, facts encode §6.
"""

from collections.abc import Container, Iterator
from typing import Any, Final

from modeldeployment.admission import arguments, patching
from modeldeployment.admission.examples import Example
from modeldeployment.admission.facts import Policy
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import DeploymentReview, RoleReview
from modeldeployment.admission.verdict import Cause, Refusal, brief
from modeldeployment.api import RoleKind
from modeldeployment.render import DTYPE_FLAG, MEMBER_VARIABLES

_ARGUMENTS: Final = "spec.roles[0].extraArgs"
_ENV: Final = "spec.roles[0].env"
_SPELLING: Final = 64
"""Characters of a spelling that are shown; a dotted one may be of any length."""
_ARTIFACT: Final = {"spec.model.artifactRef": {"name": "qwen"}}


@row(
    trigger=Example({_ARGUMENTS: ["--kv_transfer_conf", "{}"]}),
    near_miss=Example({_ARGUMENTS: ["--hicache-storage-backend", "mooncake"]}),
)
def owned_argument(review: DeploymentReview) -> Iterator[Refusal]:
    """MD012 | spec.roles[*].extraArgs[*] | An argument the operator writes cannot be given a second time.

    Two values for one connector argument cannot be told apart. Ownership is per engine: a key of vLLM is an
    ordinary argument of SGLang. Every spelling the engine reads as the key counts: a prefix, on vLLM underscores
    and a dotted member too. In a deployment with an Encode role the arguments that make an encoder or its consumer
    are owned as well.

    Way out: remove it, or own the whole line with `roles[].command`, beside which `extraArgs` is read by nobody.
    Source: spec 1 §Operator-owned keys, facts admission §5, facts encode §6.
    """
    keys = _owned_arguments(review)
    for role in review.roles:
        for index, argument, key in _stating(role, keys):
            yield Refusal(
                "MD012",
                f"{role.path}.extraArgs[{index}]",
                argument,
                why=f"{_reads(role, argument, key)}, which the operator writes itself, and two values for one argument "
                "cannot be told apart",
                way_out=f"remove it, or take the whole command line over with {role.own_command}",
                cause=Cause.FORBIDDEN,
                patch=_dropped(role, index),
            )


@row(
    trigger=Example({_ENV: [{"name": "GPUSTACK_REPLICA_SIZE", "value": "1"}]}),
    near_miss=Example({_ENV: [{"name": "MC_TE_METRIC", "value": "0"}]}),
)
def owned_variable(review: DeploymentReview) -> Iterator[Refusal]:
    """MD013 | spec.roles[*].env[*] | A variable the operator owns cannot be set in `env`.

    The three `GPUSTACK_` variables of a replica's members are owned on every engine and at every size, so that a
    replica of more Pods later is no refusal; the others belong to one engine each. In a deployment with an Encode
    role the variables by which encoders are reached are owned as well. Variables are owned beside a `command` too.

    Way out: remove it, or set it inside `roles[].command`, which is a program and its arguments. Source: spec 1
    §Operator-owned keys, facts admission §4 row 13, facts encode §6.
    """
    names = review.engine.owned_environment.union(MEMBER_VARIABLES)
    if RoleKind.ENCODE in review.kinds:
        names |= review.engine.encode_environment
    for role in review.roles:
        for index, variable in enumerate(role.role.env):
            if variable.name in names:
                field = f"{role.path}.env[{index}]"
                yield Refusal(
                    "MD013",
                    field,
                    variable.body(),
                    why=f"{variable.name} is the operator's on {review.engine.name}, and two values for one variable "
                    "cannot be told apart",
                    way_out=f"remove it, or set it inside {role.own_command}",
                    cause=Cause.FORBIDDEN,
                    patch=(patching.remove(field),),
                )


@row(
    trigger=Example(_ARTIFACT | {_ARGUMENTS: ["--revision", "v2"]}),
    near_miss=Example(_ARTIFACT | {_ARGUMENTS: ["--tokenizer", "/data/tokenizer"]}),
)
def owned_by_the_artifact(review: DeploymentReview) -> Iterator[Refusal]:
    """MD019 | spec.roles[*].extraArgs[*], env[*] | With an artifact, what names the weights follows from it.

    A `ModelArtifact` fixes which revision is served, where it comes from and where it lies. Arguments and hub
    variables that say it again would serve other weights than the status reports. Without `model.artifactRef` all
    of them are yours, as they are beside a `command`.

    Way out: remove them, or take the role over with `roles[].command`. Source: facts admission §5.
    """
    artifact = review.new.spec.model.artifact_ref
    if artifact is None:
        return
    engine = review.engine
    for role in review.roles:
        if not role.role.managed:
            continue
        because = f"ModelArtifact {artifact.name} says which weights are served and from where"
        way_out = f"remove it, or take the whole command line over with {role.own_command}"
        for index, argument, key in _stating(role, engine.artifact_arguments):
            yield Refusal(
                "MD019",
                f"{role.path}.extraArgs[{index}]",
                argument,
                why=f"{_reads(role, argument, key)}, and {because}",
                way_out=way_out,
                cause=Cause.FORBIDDEN,
                patch=_dropped(role, index),
            )
        for index, variable in enumerate(role.role.env):
            if variable.name in engine.artifact_environment:
                field = f"{role.path}.env[{index}]"
                yield Refusal(
                    "MD019",
                    field,
                    variable.body(),
                    why=f"{engine.name} reads {variable.name}, and {because}",
                    way_out=way_out,
                    cause=Cause.FORBIDDEN,
                    patch=(patching.remove(field),),
                )


@row(
    trigger=Example({_ARGUMENTS: ["--kv-cache-dtype", "fp8"]}),
    near_miss=Example({_ARGUMENTS: ["--kv-cache-dtype", "fp8"]}, policy=Policy(kv_cache_dtype_owned=False)),
    spares_deleting=True,
)
def owned_dtype(review: DeploymentReview) -> Iterator[Refusal]:
    """MD032 | spec.roles[*].extraArgs[*] | With a cache, the Binding's dtype is the engine's `--kv-cache-dtype`.

    Blocks of another dtype in one reuse domain are silent pollution: writes and reads succeed and the tensors are
    wrong, so the operator writes the Binding's `dtype` there. A deployment stored with the flag keeps running on
    its own value; its next update is refused until the flag is gone, except the one that lets it be deleted. With
    the setting `model-deployment-kv-cache-dtype-owned` off, nothing is written or refused.

    Way out: a Binding that declares the other dtype, or `roles[].command`. Source: spec 1 §Operator-owned keys.
    """
    cache = review.new.spec.kv_cache
    if cache is None or not review.facts.policy.kv_cache_dtype_owned:
        return
    for role in review.roles:
        for index, argument, key in _stating(role, (DTYPE_FLAG,)):
            yield Refusal(
                "MD032",
                f"{role.path}.extraArgs[{index}]",
                argument,
                why=f"{_reads(role, argument, key)}, which carries the Binding's dtype, that of {cache.pool_ref.name}; "
                "blocks of two dtypes in one domain are read as wrong tensors",
                way_out=f"remove it, attach another Binding that declares this dtype, or take the whole command line "
                f"over with {role.path}.command"
                if review.creating
                else f"remove it; another Binding that declares this dtype, or {role.path}.command, takes another "
                "deployment, since both are fixed here",
                cause=Cause.FORBIDDEN,
                patch=_dropped(role, index),
            )


def _owned_arguments(review: DeploymentReview) -> frozenset[str]:
    """What the operator writes on the engine's line whether or not there is an artifact or a cache."""
    keys = frozenset(review.engine.owned_arguments)
    if RoleKind.ENCODE in review.kinds:
        keys |= frozenset(review.engine.encode_arguments)
        if review.router and review.router.embeds:
            keys |= frozenset(review.engine.embeds_arguments)
    return keys


def _stating(role: RoleReview, keys: Container[str]) -> Iterator[tuple[int, str, str]]:
    """Every entry of `extraArgs` that spells one of `keys`, with its index and the key."""
    for index, argument in role.spelled:
        if key := role.engine.owns(argument, keys):
            yield index, argument, key


def _reads(role: RoleReview, argument: str, key: str) -> str:
    spelling = argument.partition("=")[0]
    written = brief(spelling, _SPELLING)
    return f"this is {role.engine.name}'s {key}" if spelling == key else f"{role.engine.name} reads {written} as {key}"


def _dropped(role: RoleReview, index: int) -> tuple[patching.Operation, ...]:
    return arguments.without(f"{role.path}.extraArgs", arguments.extent(role.role.extra_args, index))


RULES: Final[tuple[Row[Any, Any], ...]] = (owned_argument, owned_variable, owned_by_the_artifact, owned_dtype)
