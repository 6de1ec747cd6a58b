"""The warning tables: what is let in and will surprise its owner."""

from typing import Any, Final

from modeldeployment.admission.lints import (
    edits,
    engine_flags,
    forecasting,
    hardware,
    pairing,
    routing,
    scaling,
    takeover,
)
from modeldeployment.admission.rule import Row

DEPLOYMENTS: Final[tuple[Row[Any, Any], ...]] = (
    *pairing.LINTS,
    *routing.LINTS,
    *engine_flags.LINTS,
    *takeover.LINTS,
    *hardware.LINTS,
    *edits.LINTS,
)
SCALERS: Final[tuple[Row[Any, Any], ...]] = (*scaling.LINTS, *forecasting.LINTS)
