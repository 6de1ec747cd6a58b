"""Deployments and cluster facts with settled defaults; the fixture of facts rendering §14."""

from typing import Any, Final

from modeldeployment.api.instancetype import InstanceType
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render import Facts, Policy, Rendering, RoleRendering, Seat, Store, render

IMAGE = "vllm/vllm-openai:v0.25.1"


def instance_type(name: str = "h20-8x", *, status: dict[str, Any] | None = None, **spec: Any) -> InstanceType:
    """An H20 type with everything observed; `status` replaces fields of `detail`, `spec` those of the spec."""
    detail = {
        "manufacturer": "nvidia",
        "family": "hopper",
        "memory": "80Gi",
        "runtimeVersions": ["12.9"],
        "slicedDetail": {
            "logical": {"count": 128},
            "physical": {"count": 7, "profiles": [{"name": "3g.40gb", "count": 2, "memoryMib": 40960}]},
        },
    }
    return InstanceType.model_validate(
        {
            "metadata": {"name": name},
            "spec": {
                "acceleratable": True,
                "acceleratorGroup": "nvidia-h20",
                "os": "linux",
                "arch": "amd64",
                "unitResources": {"cpu": "16", "ram": "64Gi"},
                "localStorage": "512Gi",
                **spec,
            },
            "status": {"entrance": f"queue-for-{name}", "detail": detail | (status or {})},
        }
    )


def role(name: str = "server", **fields: Any) -> dict[str, Any]:
    """A Server role of one replica of one Pod with an image of its own; a field set to None is left out."""
    declared = {"name": name, "instanceType": "h20-8x", "image": IMAGE, **fields}
    return {key: value for key, value in declared.items() if value is not None}


def deployment(
    *roles: dict[str, Any], engine: str = "vLLM", spec: dict[str, Any] | None = None, **fields: Any
) -> ModelDeployment:
    """`qwen` in `team-a`; further fields go to the engine, those in `spec` beside it."""
    return ModelDeployment.model_validate(
        {
            "metadata": {"name": "qwen", "namespace": "team-a", "uid": "5f7c1f2e-0000-4000-8000-000000000001"},
            "spec": {
                "model": {"name": "Qwen/Qwen2.5-72B-Instruct"},
                "engine": {"name": engine, **fields},
                "roles": list(roles) or [role()],
                **(spec or {}),
            },
        }
    )


def pair(
    *, router: str | None = None, cache: bool = False, protocol: str | None = None, engine: str = "vLLM", **each: Any
) -> ModelDeployment:
    """A Prefill and a Decode role; `each` are fields of both, or of one when given as `prefill` or `decode`."""
    halves = {half: each.pop(half, {}) for half in ("prefill", "decode")}
    roles = [role(half, kind=half.title(), **{**each, **own}) for half, own in halves.items()]
    return deployment(*roles, engine=engine, spec=joined(router=router, cache=cache, protocol=protocol))


def joined(*, router: str | None = None, cache: bool = False, protocol: str | None = None) -> dict[str, Any]:
    """The spec's blocks that join roles."""
    return {
        **({"router": {"name": router}} if router else {}),
        **({"kvCache": {"poolRef": {"name": "team-a-dram"}}} if cache else {}),
        **({"kvTransfer": {"protocol": protocol}} if protocol else {}),
    }


def store(*transports: str, tenant: str = "team-a-shared", dtype: str = "bfloat16") -> Store:
    """The store of facts rendering §14 B; tcp when no transport is given."""
    master = "shared-kv-master.gpustack-system.svc:50051"
    return Store(master, transports or ("tcp",), tenant, dtype, 16)


ASCEND: Final = {"manufacturer": "ascend", "family": "910B", "memory": "64Gi", "runtimeVersions": ["8.2", "9.0"]}
"""What an Ascend type observes."""


def facts(*types: InstanceType, policy: Policy | None = None, **known: Any) -> Facts:
    """The types by their names; the H20 alone when none is given. Further fields are those of `Facts`."""
    by_name = {each.metadata.name: each for each in types or (instance_type(),)}
    return Facts(by_name, policy or Policy(), **known)


def rendered(engine: str = "vLLM", **fields: Any) -> Rendering:
    """The rendering of one role with these fields."""
    return render(deployment(role(**fields), engine=engine), facts())


def one_role(engine: str = "vLLM", **fields: Any) -> RoleRendering:
    """Its role."""
    (only,) = rendered(engine, **fields).roles
    return only


def one_pod(engine: str = "vLLM", **fields: Any) -> dict[str, Any]:
    """The Pod of its first seat."""
    return one_role(engine, **fields).template.pod(Seat(0, 0))


def main(pod: dict[str, Any]) -> dict[str, Any]:
    """The engine's container."""
    (container,) = pod["spec"]["containers"]
    assert container["name"] == "main"
    found: dict[str, Any] = container
    return found
