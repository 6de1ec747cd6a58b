"""A row of the refusal or the warning table: one generator, its page, and the two objects that show it.

The docstring is the row: `MD012 | spec.roles[*].extraArgs | A sentence that says what is refused.` What follows the
first paragraph is the rest of the row's page, in Markdown.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from modeldeployment.admission.examples import Example
from modeldeployment.admission.facts import Needs
from modeldeployment.admission.verdict import Caution, Refusal, Unready

Subject = TypeVar("Subject")
Outcome = TypeVar("Outcome", bound=Refusal | Caution | Unready)

_COLUMNS: Final = 3


@dataclass(frozen=True, slots=True)
class Row(Generic[Subject, Outcome]):
    """One rule or lint.

    `needs` are the lookups it reads; a row that needs any is passed over for an object that is being deleted, as is one
    with `spares_deleting`. A `late` row is judged only where no other row refused. `trigger` yields exactly this code,
    and `near_miss`, its neighbour, yields nothing.
    """

    code: str
    field: str
    sentence: str
    page: str
    judge: Callable[[Subject], Iterator[Outcome]]
    trigger: Example
    near_miss: Example
    needs: Needs = Needs.NOTHING
    spares_deleting: bool = False
    late: bool = False

    def applies(self, *, deleting: bool) -> bool:
        """Whether the row is judged at all."""
        return not deleting or not (self.needs or self.spares_deleting)


def row(
    *,
    trigger: Example,
    near_miss: Example,
    needs: Needs = Needs.NOTHING,
    spares_deleting: bool = False,
    late: bool = False,
) -> Callable[[Callable[[Any], Iterator[Outcome]]], Row[Any, Outcome]]:
    """Make a generator into a row; its docstring says code, field and sentence."""

    def made(judge: Callable[[Any], Iterator[Outcome]]) -> Row[Any, Outcome]:
        first, _, page = inspect.cleandoc(judge.__doc__ or "").partition("\n\n")
        code, field, sentence = (part.strip() for part in " ".join(first.split()).split("|", _COLUMNS - 1))
        return Row(code, field, sentence, page.strip(), judge, trigger, near_miss, needs, spares_deleting, late)

    return made
