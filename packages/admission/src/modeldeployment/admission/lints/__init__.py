"""The warning tables: what is let in and will surprise its owner."""

from typing import Any, Final

from modeldeployment.admission.lints import edits, engine_flags, hardware, pairing, scaling
from modeldeployment.admission.rule import Row

DEPLOYMENTS: Final[tuple[Row[Any, Any], ...]] = (*pairing.LINTS, *engine_flags.LINTS, *hardware.LINTS, *edits.LINTS)
SCALERS: Final[tuple[Row[Any, Any], ...]] = scaling.LINTS
