"""What a deployment with an Encode role must look like.

The documents have none of these rows, so an object on its way out is spared by all of them: none is held by a rule that
came after it. Source: decisions D1 and D46, facts encode §6.
"""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.examples import GONE, Example
from modeldeployment.admission.facts import Needs
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import DeploymentReview, RoleReview
from modeldeployment.admission.verdict import Cause, Refusal, Unready
from modeldeployment.api import RoleKind
from modeldeployment.render import Degree, Degrees, Unreadable, encoding


def _role(kind: RoleKind, **fields: Any) -> dict[str, Any]:
    return {"name": kind.label, "kind": kind.value, "instanceType": "h20-8x", **fields}


HALVES: Final = (RoleKind.PREFILL, RoleKind.DECODE)
_LLM_D: Final = {"name": "llm-d-router"}
_ENCODE, _PREFILL, _DECODE = (_role(kind) for kind in (RoleKind.ENCODE, RoleKind.PREFILL, RoleKind.DECODE))
_STAGED: Final = {"spec.router": _LLM_D, "spec.roles": [_ENCODE, _PREFILL, _DECODE]}
_SGLANG: Final = {"spec.engine": {"name": "SGLang", "version": "0.5.18"}}


@row(trigger=Example(_STAGED | {"spec.router": GONE}), near_miss=Example(_STAGED), spares_deleting=True)
def encode_without_router(review: DeploymentReview) -> Iterator[Refusal]:
    """MD043 | spec.router | An Encode role needs a router in front of it.

    The router is what sends media to an encoder and its output on to Prefill; without one nothing drives the role.

    Way out: name a router that fronts the engine, or leave the Encode role out. Source: decisions D1, facts encode
    §6.
    """
    for role in review.of_kind(RoleKind.ENCODE):
        if review.router is None:
            yield Refusal(
                "MD043",
                "spec.router",
                None,
                why=f"role {role.role.name} ({role.path}) is an Encode role, and without a router nothing drives it",
                way_out="name a router in spec.router, or leave the Encode role out"
                if review.creating
                else "keep a router in spec.router, or create another deployment without the Encode role",
                cause=Cause.REQUIRED,
            )


@row(
    trigger=Example(_STAGED | {"spec.roles": [_ENCODE, _PREFILL]}),
    near_miss=Example(_STAGED | {"spec.roles": [_DECODE, _PREFILL, _ENCODE]}),
    spares_deleting=True,
)
def encode_without_a_pair(review: DeploymentReview) -> Iterator[Refusal]:
    """MD044 | spec.roles[*].kind | An Encode role needs both a Prefill and a Decode role beside it.

    Encoders answer nobody: what they make of an image is read by a Prefill role, whose blocks a Decode role reads.

    Way out: declare all three, or leave the Encode role out. Source: decisions D1, facts encode §6.
    """
    missing = [half.value for half in encoding.missing_halves(review.kinds)]
    if not missing:
        return
    for role in review.of_kind(RoleKind.ENCODE):
        yield Refusal(
            "MD044",
            f"{role.path}.kind",
            role.role.kind.value,
            why=f"role {role.role.name} encodes for a Prefill role, which hands over to a Decode role, and the "
            f"deployment declares no {' and no '.join(missing)}",
            way_out=f"add a role of kind {' and one of kind '.join(missing)}, or leave the Encode role out",
        )


@row(
    trigger=Example(_STAGED | {"spec.roles": [_role(RoleKind.ENCODE, instanceType="ascend-910b"), _PREFILL, _DECODE]}),
    near_miss=Example(
        _STAGED | _SGLANG | {"spec.roles": [_role(RoleKind.ENCODE, instanceType="ascend-910b"), _PREFILL, _DECODE]}
    ),
    needs=Needs.INSTANCE_TYPES,
)
def staged_on_ascend(review: DeploymentReview) -> Iterator[Refusal | Unready]:
    """MD045 | spec.roles[*].instanceType | vLLM hands no encoder output over on Ascend.

    It concerns every role of a deployment with an Encode role. The type says who made its cards once its hardware
    was observed; until then the request can be made again. Judged at creation, since neither engine nor type is
    ever edited.

    Way out: types of another maker, SGLang, or no Encode role. Source: facts encode §2 and §6.
    """
    backends = review.engine.backends
    if not review.creating or RoleKind.ENCODE not in review.kinds or all(row.encodes for row in backends.values()):
        return
    for role in review.of_kind(*encoding.STAGES):
        known = review.instance_type(role)
        if known is None or not known.acceleratable:
            continue
        field, name = f"{role.path}.instanceType", role.role.instance_type
        if not known.observed:
            yield Unready(field, f"whose accelerators InstanceType {name} has is not observed yet; try again")
        elif not review.engine.backend(maker := known.status.detail.manufacturer).encodes:
            yield Refusal(
                "MD045",
                field,
                name,
                why=f"InstanceType {name} has {maker} accelerators, on which {review.engine.name} hands no encoder "
                f"output over, so role {role.role.name} ({role.role.kind}) cannot stand beside an Encode role",
                way_out="name a type of another maker, use SGLang, or leave the Encode role out",
                cause=Cause.NOT_SUPPORTED,
            )


@row(
    trigger=Example(_STAGED | {"spec.roles": [_ENCODE, _role(RoleKind.PREFILL, size=2), _DECODE]}),
    near_miss=Example(
        _STAGED | _SGLANG | {"spec.roles": [_ENCODE, _role(RoleKind.PREFILL, size=2), _role(RoleKind.DECODE, size=2)]}
    ),
    spares_deleting=True,
)
def staged_over_several_pods(review: DeploymentReview) -> Iterator[Refusal]:
    """MD046 | spec.roles[*].size | A replica that holds encoder output is one Pod.

    The output lies in shared memory of one node, where the other Pods of a replica do not see it. That holds for
    every Encode role, and on vLLM for the Prefill role beside it, and for the Decode role behind `llm-d-router`,
    which reads it too.

    Way out: size 1; replicas scale. Source: facts encode §6.
    """
    if RoleKind.ENCODE not in review.kinds:
        return
    for role in review.roles:
        if role.role.size > 1 and encoding.holds(review.engine, review.router, role.role.kind):
            yield Refusal(
                "MD046",
                f"{role.path}.size",
                role.role.size,
                why=f"role {role.role.name} ({role.role.kind}) holds encoder output in the memory of one node, and the "
                f"other Pods of a replica of size {role.role.size} do not see it",
                way_out="declare size 1 and raise replicas instead",
            )


@row(
    trigger=Example(
        _STAGED
        | {
            "spec.roles": [
                _ENCODE,
                _role(RoleKind.PREFILL, extraArgs=["-dp", "2"], resources={"accelerator": 2}),
                _DECODE,
            ]
        }
    ),
    near_miss=Example(
        _STAGED
        | {
            "spec.roles": [
                _ENCODE,
                _role(RoleKind.PREFILL, extraArgs=["-tp", "2"], resources={"accelerator": 2}),
                _DECODE,
            ]
        }
    ),
    spares_deleting=True,
)
def staged_data_parallel(review: DeploymentReview) -> Iterator[Refusal]:
    """MD047 | spec.roles[*].extraArgs, env[*] | On vLLM no role beside an Encode role is data parallel.

    The routers address one encoder cache per Pod, and a second data-parallel rank would have one of its own. The
    degree is read from `extraArgs` and `VLLM_DP_SIZE`; a role with a `command` owns its line.

    Way out: data parallelism 1, and more replicas. Source: facts encode §3 and §6.
    """
    if RoleKind.ENCODE not in review.kinds:
        return
    for role in review.roles:
        if not (role.role.managed and encoding.one_rank(review.engine, role.role.kind)):
            continue
        degrees = role.degrees
        if not isinstance(degrees, Unreadable) and degrees.data_parallel > 1:
            field, value = _said_at(role, degrees)
            yield Refusal(
                "MD047",
                field,
                value,
                why=f"role {role.role.name} ({role.role.kind}) declares data parallelism {degrees.data_parallel}, and "
                "encoder output is handed to one rank of a Pod",
                way_out=f"declare data parallelism 1 and raise replicas instead, or own the whole line with "
                f"{role.own_command}",
            )


@row(
    trigger=Example(_STAGED | {"spec.router": {"name": "vllm-router"}}),
    near_miss=Example(_STAGED | {"spec.router": {"name": "vllm-router"}, "spec.kvCache": GONE}),
    spares_deleting=True,
)
def staged_beside_a_cache(review: DeploymentReview) -> Iterator[Refusal]:
    """MD056 | spec.router.name | Behind vllm-router a deployment with an Encode role has no cache pool beside it.

    There the halves are joined by addresses and vLLM's `NixlConnector`, and nobody has run that together with the
    store's connector in one engine. Behind `llm-d-router` the halves are joined as any pair is.

    Way out: `llm-d-router`, or no `kvCache`. A role with a `command` gets neither connector. Source: decisions D46,
    facts encode §7.
    """
    router, cache = review.router, review.new.spec.kv_cache
    if router is None or cache is None or not router.embeds or RoleKind.ENCODE not in review.kinds:
        return
    joined = next((backend for backend in review.engine.backends.values() if backend.address_connector), None)
    half = next((each for each in review.of_kind(*HALVES) if each.role.managed), None)
    if joined and half and review.pair:
        yield Refusal(
            "MD056",
            "spec.router.name",
            router.name.value,
            why=f"beside an Encode role {router.name} joins role {half.role.name} to its other half with "
            f"{joined.address_connector}, and nobody has run that together with {joined.store_connector}, which "
            f"spec.kvCache ({cache.pool_ref.name}) asks for, in one engine",
            way_out="use llm-d-router, or leave spec.kvCache out"
            if review.creating
            else "use llm-d-router, or create another deployment without spec.kvCache, which is fixed here",
            cause=Cause.NOT_SUPPORTED,
        )


def _said_at(role: RoleReview, degrees: Degrees) -> tuple[str, Any]:
    """Where the data degree in force is written, and what stands there: the variable counts where no flag says more."""
    if degrees.declared.get(Degree.DATA, 1) == 1:
        for index, variable in enumerate(role.role.env):
            if variable.name == role.engine.degrees.variable:
                return f"{role.path}.env[{index}]", variable.body()
    return f"{role.path}.extraArgs", list(role.role.extra_args)


RULES: Final[tuple[Row[Any, Any], ...]] = (
    encode_without_router,
    encode_without_a_pair,
    staged_on_ascend,
    staged_over_several_pods,
    staged_data_parallel,
    staged_beside_a_cache,
)
