"""Ratios between roles, and whether bounds and ratios can hold together."""

from typing import Any, Final

from modeldeployment.admission.rule import Row

RULES: Final[tuple[Row[Any, Any], ...]] = ()
