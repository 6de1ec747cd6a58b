"""All case tables; each module holds the rows of one table of facts admission §9, or of our own."""

from collections.abc import Sequence
from typing import Final

from admission_case import Case

TABLES: Final[tuple[Sequence[Case], ...]] = ()
