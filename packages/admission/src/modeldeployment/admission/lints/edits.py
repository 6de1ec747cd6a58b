"""Edits that change more than was meant."""

from typing import Any, Final

from modeldeployment.admission.rule import Row

LINTS: Final[tuple[Row[Any, Any], ...]] = ()
