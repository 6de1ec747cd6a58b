"""Engine arguments and variables that do something else than their owner expects."""

from typing import Any, Final

from modeldeployment.admission.rule import Row

LINTS: Final[tuple[Row[Any, Any], ...]] = ()
