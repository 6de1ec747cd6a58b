"""The roles as a set: how many, which kinds beside which."""

from typing import Any, Final

from modeldeployment.admission.rule import Row

RULES: Final[tuple[Row[Any, Any], ...]] = ()
