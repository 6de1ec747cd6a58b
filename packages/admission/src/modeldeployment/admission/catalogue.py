"""The page of every code: what is refused or warned about, why, an object that shows it, and its neighbour that passes.

What a page shows is what a review of its example answers, so a page cannot say something else than the webhook does.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

import msgspec

from modeldeployment.admission import lints as warned
from modeldeployment.admission import rules, schema, showing, telling
from modeldeployment.admission.examples import Example
from modeldeployment.admission.facts import Needs
from modeldeployment.admission.gathering import from_manifests
from modeldeployment.admission.reviewing import review
from modeldeployment.admission.rule import Row
from modeldeployment.admission.rules import others
from modeldeployment.admission.schema import rows as sorts
from modeldeployment.admission.verdict import Caution, Finding, Unready

_REFUSED: Final = (
    ("ModelDeployment", rules.DEPLOYMENTS),
    ("ModelDeploymentScaler", rules.SCALERS),
    ("The other kinds", others.RULES),
    ("Every kind", sorts.TABLE),
)
_WARNED: Final = (("ModelDeployment", warned.DEPLOYMENTS), ("ModelDeploymentScaler", warned.SCALERS))

_READ: Final[Mapping[Needs, str]] = {
    Needs.INSTANCE_TYPES: "the InstanceTypes of the roles",
    Needs.CACHE: "the binding, its pool and its backend",
    Needs.SCALER: "the scaler that the binding annotation names",
    Needs.TARGET: "the scaler's target",
}


KEPT: Final[Mapping[str, str]] = {
    "MD008": "`spec.roles[*].kind`: A kind that the engine has no rendering term for.\n\nEvery kind the schema takes "
    "renders on every engine it takes, so no object is refused by it today; a kind the schema does not know is MD905. "
    "Source: spec 1 §Admission refusals, decisions D46.",
    "MD025": "`spec.engine`: An engine without the metrics the router needs.\n\nBoth engines have them, so no object "
    "is refused by it today. Source: facts admission §4 row 25.",
}
"""Rows of the table that nothing can trigger: the code is kept and has a page, and there is no rule."""


@cache
def rows() -> Mapping[str, Row[Any, Any]]:
    """Every row of the refusal and warning tables by its code."""
    return MappingProxyType({row.code: row for _, table in (*_REFUSED, *_WARNED) for row in table})


def page(code: str) -> str:
    """The page of one code in Markdown. Raises KeyError for one that is neither in `rows` nor in `KEPT`."""
    if code in KEPT:
        return f"# {code}\n\n{KEPT[code]}\n"
    row = rows()[code]
    told = [each for each in _answers(row, row.trigger) if isinstance(each, Unready) or each.code == code]
    warns = any(isinstance(each, Caution) for each in told)
    answered = "\n".join(_line(each) for each in told)
    parts = [
        f"# {code}",
        f"{_code(row.field)}: {row.sentence}",
        row.page,
        "" if warns else _circumstances(row),
        "## Warned about" if warns else "## Refused",
        showing.example(row.trigger),
        f"```text\n{answered}\n```" if answered else "",
        *(_patch(each) for each in told if isinstance(each, Finding) and each.patch),
        "## Not warned about" if warns else "## Not refused",
        showing.example(row.near_miss),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def refusals() -> str:
    """The document of all refusals: an index by kind, then every page."""
    kept = "\n".join(page(code).replace("# ", "### ", 1) for code in KEPT)
    document = _document(
        "Refusals",
        "What admission refuses, and why. A refusal's code stays the same from release to release; `kubectl md explain "
        "CODE` prints its page. All refusals of one write come together, in the order of the fields.",
        _REFUSED,
    )
    return f"{document}\n## Kept for engines to come\n\n{kept}"


def lints() -> str:
    """The document of all warnings: an index by kind, then every page."""
    return _document(
        "Warnings",
        "What is let in and will surprise its owner. A warning blocks nothing: clients print it beside the answer. "
        "`kubectl md explain CODE` prints its page.",
        _WARNED,
    )


def _document(title: str, lead: str, tables: Iterable[tuple[str, Iterable[Row[Any, Any]]]]) -> str:
    lines = [f"# {title}", "", "<!-- Generated from the rows of admission; edit those. -->", "", lead]
    pages: list[str] = []
    for kind, table in tables:
        lines += ["", f"## {kind}", "", "| Code | Field | What |", "|---|---|---|"]
        for row in sorted(table, key=lambda each: each.code):
            lines.append(f"| [{row.code}](#{row.code.lower()}) | {_code(row.field)} | {_cell(row.sentence)} |")
            pages.append(page(row.code).replace("\n## ", "\n### ").replace("# ", "## ", 1))
    return "\n".join(lines) + "\n\n" + "\n".join(pages)


def _cell(text: str) -> str:
    return text.replace("|", "&#124;")


def _code(field: str) -> str:
    return "any" if field == "*" else f"`{field}`"


def _answers(row: Row[Any, Any], example: Example) -> Iterator[Finding | Unready]:
    """Yield what is answered to an example: by a review, and for the rows of a schema by whoever judges it."""
    new, old = example.objects()
    if row in sorts.TABLE:
        yield from schema.violations(new)
        return
    if row in others.RULES:
        yield from others.refusals(schema.defaulted(new), None if old is None else schema.defaulted(old))
        return
    verdict = review(new, old, from_manifests(example.cluster(), example.policy), example.actor)
    yield from verdict.refusals
    yield from verdict.unready
    yield from verdict.warnings


def _line(answer: Finding | Unready) -> str:
    match answer:
        case Unready(field=field, why=why):
            return f"{field}: {why}"
        case Caution():
            return telling.caution(answer)
        case _:
            return f"{answer.field}: {telling.sentence(answer)}"


def _patch(finding: Finding) -> str:
    written = msgspec.json.encode([dict(operation) for operation in finding.patch]).decode()
    return f"A JSON patch that settles it: `{written}`"


def _circumstances(row: Row[Any, Any]) -> str:
    read = [words for need, words in _READ.items() if need in row.needs]
    said = [f"Judged by {' and '.join(read)}, read from the API server." if read else ""]
    said.append("" if row.applies(deleting=True) else "An object that is being deleted is spared.")
    said.append("Judged only where nothing else is refused." if row.late else "")
    return " ".join(each for each in said if each)
