"""Defaults of a ModelDeploymentScaler: the algorithm its blocks imply, and zeros that stand for a default."""

from collections.abc import Mapping
from typing import Any

from modeldeployment.admission.defaulting.outcome import Defaulted
from modeldeployment.admission.facts import Facts


def defaults(body: Mapping[str, Any], facts: Facts) -> Defaulted:
    """TODO."""
    return Defaulted()
