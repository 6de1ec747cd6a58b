"""Arguments and variables the operator writes itself."""

from typing import Any, Final

from modeldeployment.admission.rule import Row

RULES: Final[tuple[Row[Any, Any], ...]] = ()
