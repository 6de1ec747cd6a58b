"""Defaults of a ModelDeployment: the accelerator count of a role, which hangs on its InstanceType."""

from collections.abc import Mapping
from typing import Any

from modeldeployment.admission.defaulting.outcome import Defaulted
from modeldeployment.admission.facts import Facts


def defaults(body: Mapping[str, Any], facts: Facts) -> Defaulted:
    """TODO."""
    return Defaulted()
