"""How a warning is said: in one line short enough for the API server to hand on whole."""

from functools import partial
from typing import Final

from modeldeployment.admission.rule import row

LONGEST: Final = 256
"""Characters of a warning that the API server promises to hand on."""

lint: Final = partial(row, spares_deleting=True)
"""Make a generator into a row of the warning table; what is on its way out is warned about nothing."""


def brief(text: str, longest: int = 24) -> str:
    """A name or value of a user's, cut so that the sentence around it stays whole."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
