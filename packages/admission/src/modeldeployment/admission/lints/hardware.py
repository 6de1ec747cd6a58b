"""Makers, images, capacity and mounts."""

from typing import Any, Final

from modeldeployment.admission.rule import Row

LINTS: Final[tuple[Row[Any, Any], ...]] = ()
