"""The refusal table of ModelDeploymentScaler, by subject."""

from typing import Any, Final

from modeldeployment.admission.rule import Row
from modeldeployment.admission.rules.scalers import (
    algorithm,
    bounds,
    capacity,
    fitting,
    proportion,
    ratios,
    rebalancing,
    target,
)

RULES: Final[tuple[Row[Any, Any], ...]] = (
    *bounds.RULES,
    *ratios.RULES,
    *fitting.RULES,
    *algorithm.RULES,
    *proportion.RULES,
    *capacity.RULES,
    *target.RULES,
    *rebalancing.RULES,
)
