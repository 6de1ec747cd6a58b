"""The algorithm, its one block, and its numbers."""

from typing import Any, Final

from modeldeployment.admission.rule import Row

RULES: Final[tuple[Row[Any, Any], ...]] = ()
