"""How a warning is said: in one line short enough for the API server to hand on whole."""

from functools import partial
from typing import Final

from modeldeployment.admission.rule import row

LONGEST: Final = 256
"""Characters of a warning that the API server promises to hand on."""

lint: Final = partial(row, spares_deleting=True)
"""Make a generator into a row of the warning table; what is on its way out is warned about nothing."""
