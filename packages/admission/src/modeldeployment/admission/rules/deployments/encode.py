"""What a deployment with an Encode role must look like."""

from typing import Any, Final

from modeldeployment.admission.rule import Row

RULES: Final[tuple[Row[Any, Any], ...]] = ()
