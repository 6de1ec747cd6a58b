"""Makers, engine releases, mounts and capacity."""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.examples import Example
from modeldeployment.admission.facts import Needs
from modeldeployment.admission.lints.cautioning import lint
from modeldeployment.admission.lints.floors import counts_tokens, floor
from modeldeployment.admission.lints.seen import common_version, maker, stated_version
from modeldeployment.admission.patching import remove
from modeldeployment.admission.rule import Row
from modeldeployment.admission.subjects import DeploymentReview, RoleReview
from modeldeployment.admission.verdict import Caution, brief
from modeldeployment.api import RoleKind
from modeldeployment.api.choices import EngineName

CLIENT_CONFIGURATION: Final = "/etc/gpustack/kvcache"
"""Where a vLLM engine finds its cache client's configuration (facts kv-cache §6)."""


def _server(instance_type: str, **more: Any) -> dict[str, Any]:
    return {
        "name": f"on-{instance_type}",
        "instanceType": instance_type,
        "resources": {"accelerator": 1},
        **more,
    }


@lint(
    trigger=Example({"spec.roles[1]": _server("mi300x")}),
    near_miss=Example({"spec.roles[1]": _server("h20-other")}),
    needs=Needs.INSTANCE_TYPES,
)
def makers_mixed_on_a_pool(review: DeploymentReview) -> Iterator[Caution]:
    """MDW18 | spec.kvCache.poolRef.name | Roles on cards of two makers do not find each other's blocks in one pool.

    The deployment is admitted and every role serves; reads from the shared store miss, and nothing reports it. Encode
    roles and roles with their own command are not attached, and do not count.

    Way out: a deployment and a Binding for each maker.

    Source: spec 2 §Different hardware per role.
    """
    cache = review.new.spec.kv_cache
    if cache is None:
        return
    makers = sorted(
        {maker(review, each) for each in review.roles if each.role.managed and each.role.kind is not RoleKind.ENCODE}
        - {""}
    )
    if len(makers) > 1:
        yield Caution(
            "MDW18",
            "spec.kvCache.poolRef.name",
            cache.pool_ref.name,
            why=f"engines on {brief(' and '.join(makers), 48)} do not find each other's blocks in one pool: lookups "
            "miss and nothing reports it",
            way_out="give each maker a deployment and a Binding of its own",
        )


@lint(
    trigger=Example({"spec.engine.version": "0.28.1"}),
    near_miss=Example({"spec.engine.version": "0.29.0"}),
    needs=Needs.INSTANCE_TYPES,
)
def release_below_floor(review: DeploymentReview) -> Iterator[Caution]:
    """MDW19 | spec.engine.version | An engine release older than any this operator's rendering was run on.

    Oldest releases: vLLM 0.29.0, and 0.30.0 behind `llm-d-router` or with an Encode role; vLLM-Ascend 0.23.0, and
    0.30.0rc1 behind `llm-d-router`; SGLang 0.5.18. The release is read from `engine.version`, or from an image's tag
    where it says one: `gpustack/runner:cuda12.9-vllm0.29.0`, `vllm/vllm-openai:v0.29.0`. Any other image is not judged.

    Way out: a later release.

    Source: facts engine-versions §1, spec 2 §Counting engine tokens.
    """
    told: set[tuple[str, str]] = set()
    common, counting = common_version(review), counts_tokens(review)
    for each in review.roles:
        stated = stated_version(review, each) if each.role.image else common
        lowest = floor(review, each, counting=counting) if stated else None
        if stated is None or lowest is None or stated.version >= lowest.version:
            continue
        if (stated.field, lowest.engine) in told:
            continue
        told.add((stated.field, lowest.engine))
        yield Caution(
            "MDW19",
            stated.field,
            stated.text,
            why=f"{lowest.engine} {stated.version} is below {lowest.version}: {lowest.below}",
            way_out=f"run {lowest.version} or later",
        )


@lint(
    trigger=Example(
        {
            "spec.roles[0].additionalVolumes": [
                {"mountPath": f"{CLIENT_CONFIGURATION}/mooncake.json", "configMap": {"name": "own"}}
            ]
        }
    ),
    near_miss=Example(
        {
            "spec.roles[0].additionalVolumes": [
                {"mountPath": f"{CLIENT_CONFIGURATION}-own", "configMap": {"name": "own"}}
            ]
        }
    ),
)
def client_configuration_covered(review: DeploymentReview) -> Iterator[Caution]:
    """MDW20 | spec.roles[*].additionalVolumes[*].mountPath | A volume mounted over the cache client's configuration.

    The operator puts the file a vLLM engine reads at `/etc/gpustack/kvcache/mooncake.json`. A volume at or below that
    directory replaces it, the tenant and the address of the pool included, and the owned `MOONCAKE_CONFIG_PATH` cannot
    tell.

    Way out: mount elsewhere; to own the configuration, take the role over with `command`.

    Source: spec 1 §Operator-owned keys.
    """
    if review.new.spec.kv_cache is None or review.engine.name is not EngineName.VLLM:
        return
    for each in review.roles:
        if not each.role.managed or each.role.kind is RoleKind.ENCODE:
            continue
        for index, volume in enumerate(each.role.additional_volumes):
            if f"{volume.mount_path}/".startswith(f"{CLIENT_CONFIGURATION}/"):
                yield Caution(
                    "MDW20",
                    f"{each.path}.additionalVolumes[{index}].mountPath",
                    volume.mount_path,
                    why="the volume covers the cache client's configuration, tenant and pool address included, and "
                    "nothing notices",
                    way_out=f"mount it outside of {CLIENT_CONFIGURATION}",
                )


@lint(
    trigger=Example(
        {
            "spec.roles[0].additionalVolumes": [
                {"mountPath": "/data", "configMap": {"name": "one"}, "secret": {"name": "two"}}
            ]
        }
    ),
    near_miss=Example({"spec.roles[0].additionalVolumes": [{"mountPath": "/data", "secret": {"name": "two"}}]}),
)
def several_sources(review: DeploymentReview) -> Iterator[Caution]:
    """MDW21 | spec.roles[*].additionalVolumes[*] | Of several sources of one volume only the first is mounted.

    The ConfigMap counts before the Secret, and the Secret before the path on the node; the others are dropped.

    Way out: one entry for each source, at its own path.

    Source: facts api-modeldeployment §2.
    """
    for each in review.roles:
        for index, volume in enumerate(each.role.additional_volumes):
            sources = [
                name
                for name, given in (
                    ("configMap", volume.config_map),
                    ("secret", volume.secret),
                    ("hostPath", volume.host_path),
                )
                if given
            ]
            if len(sources) > 1:
                field = f"{each.path}.additionalVolumes[{index}]"
                yield Caution(
                    "MDW21",
                    field,
                    sources,
                    why=f"a volume mounts one source: {sources[0]} is taken and {' and '.join(sources[1:])} dropped",
                    way_out="write one entry for each source",
                    patch=tuple(remove(f"{field}.{name}") for name in sources[1:]),
                )


@lint(
    trigger=Example({"spec.roles[0].replicas": 9}),
    near_miss=Example({"spec.roles[0].replicas": 8}),
    needs=Needs.INSTANCE_TYPES,
)
def more_than_the_pool_holds(review: DeploymentReview) -> Iterator[Caution]:
    """MDW22 | spec.roles[*].replicas | More whole accelerators than the InstanceType holds in all.

    Every role of a deployment is admitted together, so where all its replicas on one InstanceType ask for more whole
    cards than `status.accelerator.capacity`, the whole set waits in its queues until the pool grows. Slices and
    partitions are not counted.

    Way out: fewer replicas, or nodes first. A scaler's `maxReplicas` is not judged: growth beyond the pool is rolled
    back.

    Source: spec 1 §Prefill and decode, facts api-dependencies §1.
    """
    asked: dict[str, int] = {}
    told: set[str] = set()
    for each in review.roles:
        found = review.instance_type(each)
        pool = found.status.accelerator if found else None
        held = pool.capacity if pool else None
        cards = _whole_cards(each)
        if held is None or not cards:
            continue
        name = each.role.instance_type
        asked[name] = asked.get(name, 0) + cards
        if asked[name] > held.units and name not in told:
            told.add(name)
            yield Caution(
                "MDW22",
                f"{each.path}.replicas",
                each.role.replicas,
                why=f"{asked[name]} whole accelerators are asked of {brief(name, 48)}, which holds {held.units}: "
                "the whole set waits in its queue",
                way_out="declare fewer replicas, or add nodes first",
            )


_LARGEST: Final = {"h20-8x": {"status.accelerator.capacity": "16", "status.accelerator.onceMaxRequest": "8"}}


@lint(
    trigger=Example({"spec.roles[0].resources.accelerator": 9, "spec.roles[0].replicas": 1}, known=_LARGEST),
    near_miss=Example({"spec.roles[0].resources.accelerator": 8, "spec.roles[0].replicas": 1}, known=_LARGEST),
    needs=Needs.INSTANCE_TYPES,
)
def more_than_a_node_holds(review: DeploymentReview) -> Iterator[Caution]:
    """MDW24 | spec.roles[*].resources.accelerator | More whole accelerators per Pod than any one node can give.

    The refusal looks at the pool's total alone, so a Pod that no node can take is admitted and waits in its queue. What
    one Pod can get at most is `status.accelerator.onceMaxRequest`, where the InstanceType publishes it.

    Way out: fewer cards per Pod and a larger `size`, in another deployment, since both are fixed. Source: spec 1
    §Admission refusals, facts api-dependencies §1.
    """
    for each in review.roles:
        found = review.instance_type(each)
        pool = found.status.accelerator if found else None
        most = pool.once_max_request if pool else None
        cards = _whole_cards(each) // (each.role.replicas * each.role.size)
        if most is not None and cards > most.units:
            yield Caution(
                "MDW24",
                f"{each.path}.resources.accelerator",
                cards,
                why=f"{cards} whole accelerators are asked of one node, and no node of "
                f"{brief(each.role.instance_type, 48)} gives more than {most.units}: its Pods wait in their queue",
                way_out="ask for fewer per Pod, and for more Pods with size",
            )


def _whole_cards(each: RoleReview) -> int:
    """Whole cards of all the role's Pods; 0 for a share of one."""
    resources = each.role.resources
    if (
        resources is None
        or resources.accelerator is None
        or resources.accelerator_sliced_memory_percentage
        or resources.accelerator_sliced_cores_percentage
        or resources.accelerator_partitioned_profile
    ):
        return 0
    return each.role.replicas * each.role.size * resources.accelerator.units


LINTS: Final[tuple[Row[Any, Any], ...]] = (
    makers_mixed_on_a_pool,
    release_below_floor,
    client_configuration_covered,
    several_sources,
    more_than_the_pool_holds,
    more_than_a_node_holds,
)
