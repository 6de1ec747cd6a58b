"""Defaults of a ModelDeploymentScaler: the algorithm its blocks imply, and zeros that stand for a default.

All other defaults are the schema's. Zeros of the downward windows and of the noise parameters stay stored and are read
as their defaults (decisions D43). Source: spec 3 §Algorithms and §Pacing and guards, facts api-scaler §2.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from modeldeployment.admission import patching
from modeldeployment.admission.defaulting.outcome import Defaulted
from modeldeployment.admission.facts import Facts
from modeldeployment.admission.patching import Operation
from modeldeployment.api.algorithms import AlgorithmType
from modeldeployment.api.scaler import ScaleUp

_STEPS: Final[Mapping[str, int]] = {
    str(field.alias): field.default
    for name, field in ScaleUp.model_fields.items()
    if name in ("max_step_replicas", "max_step_percent")
}
"""The upward steps by JSON name, with what a zero is stored as."""


def defaults(body: Mapping[str, Any], _facts: Facts) -> Defaulted:
    """Write out the algorithm's type and the upward steps; an object on its way out is left alone."""
    spec = body.get("spec")
    if not isinstance(spec, Mapping) or patching.found(body, "metadata.deletionTimestamp") is not None:
        return Defaulted()
    return Defaulted((*_algorithm(spec), *_steps(spec)))


def _algorithm(spec: Mapping[str, Any]) -> Iterator[Operation]:
    algorithm = spec.get("algorithm")
    if algorithm is None:
        yield patching.put("spec.algorithm", {"type": AlgorithmType.TOKEN_THROUGHPUT.value})
    elif isinstance(algorithm, Mapping) and algorithm.get("type") is None:
        yield patching.put("spec.algorithm.type", _implied(algorithm).value)


def _implied(algorithm: Mapping[str, Any]) -> AlgorithmType:
    if algorithm.get("proportional") is not None:
        return AlgorithmType.PROPORTIONAL
    if algorithm.get("predictive") is not None:
        return AlgorithmType.PREDICTIVE
    return AlgorithmType.TOKEN_THROUGHPUT


def _steps(spec: Mapping[str, Any]) -> Iterator[Operation]:
    """Store the default of a step that is left out or zero; in one piece where all around it is left out too."""
    behavior = spec.get("behavior")
    if behavior is None:
        yield patching.put("spec.behavior", {"scaleUp": dict(_STEPS)})
    elif isinstance(behavior, Mapping):
        scale_up = behavior.get("scaleUp")
        if scale_up is None:
            yield patching.put("spec.behavior.scaleUp", dict(_STEPS))
        elif isinstance(scale_up, Mapping):
            for name, default in _STEPS.items():
                value = scale_up.get(name)
                if value is None or (value == 0 and not isinstance(value, bool)):
                    yield patching.put(f"spec.behavior.scaleUp.{name}", default)
