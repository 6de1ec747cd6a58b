"""`kubectl md explain`: the pages of admission's codes."""

import difflib

from modeldeployment.admission import catalogue
from modeldeployment.operator.errors import UsageError


def page(code: str) -> str:
    """The page of one code, however it is capitalised; raises UsageError naming those that are close."""
    wanted = code.strip().upper()
    try:
        return catalogue.page(wanted).rstrip()
    except KeyError:
        near = difflib.get_close_matches(wanted, (*catalogue.rows(), *catalogue.KEPT), n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "kubectl md explain lists all codes"
        raise UsageError(f"there is no code {code}; {hint}") from None


def index() -> str:
    """Every code with its sentence, a line each."""
    return "\n".join(f"{code}  {row.sentence}" for code, row in sorted(catalogue.rows().items()))
