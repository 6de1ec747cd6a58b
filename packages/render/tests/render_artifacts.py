"""Artifacts in every state, and deployments that name one."""

from typing import Any, Final

from modeldeployment.api.artifact import ModelArtifact
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render import Delivery, Facts, Policy
from render_worlds import deployment, facts, role

COMMIT: Final = "a" * 40
DIGEST: Final = "0123456789abcdef" * 4
MARK: Final = "m-0123456789abcdef0123456789abcdef"
"""What DIGEST marks blocks with."""
SIZE: Final = 20 * 2**30
IMAGE: Final = f"registry.local/weights/qwen@sha256:{DIGEST}"

HUGGING_FACE: Final = {"huggingFace": {"repository": "Qwen/Qwen2.5-72B-Instruct", "revision": "main"}}
MODEL_SCOPE: Final = {"modelScope": {"repository": "qwen/Qwen2.5-72B-Instruct", "secretRef": {"name": "scope"}}}
CLAIM: Final = {"persistentVolumeClaim": {"claimName": "models", "path": "qwen/72b"}}
PINNED: Final = {"image": {"reference": IMAGE}}

RESOLVED: Final = {
    "revision": COMMIT,
    "manifestDigest": f"sha256:{DIGEST}",
    "digestSource": "Hub",
    "fileCount": 41,
    "sizeBytes": SIZE,
}
BY_NODE: Final = Policy(delivery=Delivery.NODE)


def artifact(
    source: dict[str, Any], *, resolved: Any = RESOLVED, condition: Any = "True", **spec: Any
) -> ModelArtifact:
    """`weights` in `team-a`, resolved; `condition` is the status of its condition, None for none at all."""
    conditions = [{"type": "Resolved", "status": condition, "reason": "Waiting"}] if condition else []
    return ModelArtifact.model_validate(
        {
            "metadata": {"name": "weights", "namespace": "team-a", "uid": "5f7c1f2e-0000-4000-8000-0000000000aa"},
            "spec": {"source": source, **spec},
            "status": {"conditions": conditions, **({"resolved": resolved} if resolved else {})},
        }
    )


def served(*roles: dict[str, Any], engine: str = "vLLM", name: str = "weights", **spec: Any) -> ModelDeployment:
    """A deployment that serves `qwen-72b` from the artifact of that name."""
    model = {"name": "qwen-72b", "artifactRef": {"name": name}}
    return deployment(*(roles or (role(),)), engine=engine, spec={"model": model, **spec})


def known(found: ModelArtifact | None, policy: Policy | None = None, **more: Any) -> Facts:
    """A cluster with this artifact."""
    return facts(policy=policy, artifact=found, **more)
