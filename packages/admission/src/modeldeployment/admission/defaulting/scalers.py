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

_STEPS: Final = ("max_step_replicas", "max_step_percent")


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
    """Store the default where a step is left out or zero, with whatever around it is left out too."""
    path, node = "spec", spec
    for name in ("behavior", "scaleUp"):
        path = f"{path}.{name}"
        inner = node.get(name)
        if inner is None:
            yield patching.put(path, {})
            inner = {}
        if not isinstance(inner, Mapping):
            return
        node = inner
    for attribute in _STEPS:
        field = ScaleUp.model_fields[attribute]
        value = node.get(str(field.alias))
        if value is None or (value == 0 and not isinstance(value, bool)):
            yield patching.put(f"{path}.{field.alias}", field.default)
