"""Deployments and cluster facts with settled defaults; the fixture of facts rendering §14."""

from typing import Any

from modeldeployment.api.instancetype import InstanceType
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render import Facts, Policy, Rendering, RoleRendering, Seat, render

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


def deployment(*roles: dict[str, Any], engine: str = "vLLM", **fields: Any) -> ModelDeployment:
    """`qwen` in `team-a`; further fields go to the engine."""
    return ModelDeployment.model_validate(
        {
            "metadata": {"name": "qwen", "namespace": "team-a", "uid": "5f7c1f2e-0000-4000-8000-000000000001"},
            "spec": {
                "model": {"name": "Qwen/Qwen2.5-72B-Instruct"},
                "engine": {"name": engine, **fields},
                "roles": list(roles) or [role()],
            },
        }
    )


def facts(*types: InstanceType, policy: Policy | None = None, runtime_classes: frozenset[str] = frozenset()) -> Facts:
    """The types by their names; the H20 alone when none is given."""
    known = types or (instance_type(),)
    return Facts({known_type.metadata.name: known_type for known_type in known}, policy or Policy(), runtime_classes)


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
