"""Pairs, routers and what moves between the halves."""

from typing import Any, Final

from modeldeployment.admission.rule import Row

LINTS: Final[tuple[Row[Any, Any], ...]] = ()
