"""The weights an artifact delivers, as one engine is told to load them.

Source: facts api-dependencies §6, facts rendering §12.
"""

from dataclasses import dataclass

from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render.engine import Engine
from modeldeployment.render.facts import Facts


@dataclass(frozen=True, slots=True)
class Weights:
    """Resolved weights: `model` is what the engine loads, `prefix` what marks their blocks in a shared store.

    `cache_bytes` is what the engine's own download takes of the Pod's ephemeral storage, 0 where nothing is downloaded.
    """

    model: str
    prefix: str
    cache_bytes: int


def resolve(deployment: ModelDeployment, engine: Engine, facts: Facts) -> Weights | None:  # noqa: ARG001
    """Resolve the deployment's artifact; None where it names none.

    Raises RenderRefusal, retryable, while the weights are not definite or cannot be delivered.
    """
    if deployment.spec.model.artifact_ref is None:
        return None
    raise NotImplementedError
