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
from modeldeployment.admission.rules import structural
from modeldeployment.admission.verdict import Caution, Finding, Unready
from modeldeployment.api import artifact, instancetype, kvbackend, kvpool
from modeldeployment.api.cel import Rule

_REFUSED: Final = (
    ("ModelDeployment", rules.DEPLOYMENTS),
    ("ModelDeploymentScaler", rules.SCALERS),
    ("Every kind", structural.TABLE),
)
_WARNED: Final = (("ModelDeployment", warned.DEPLOYMENTS), ("ModelDeploymentScaler", warned.SCALERS))

_READ: Final[Mapping[Needs, str]] = {
    Needs.INSTANCE_TYPES: "the InstanceTypes of the roles",
    Needs.CACHE: "the binding, its pool and its backend",
    Needs.SCALER: "the scaler that the binding annotation names",
    Needs.TARGET: "the scaler's target",
}


@cache
def rows() -> Mapping[str, Row[Any, Any]]:
    """Every row of the refusal and warning tables by its code."""
    return MappingProxyType({row.code: row for _, table in (*_REFUSED, *_WARNED) for row in table})


@cache
def codes() -> tuple[str, ...]:
    """Every code that has a page, sorted."""
    return tuple(sorted({*rows(), *_declared()}))


def page(code: str) -> str:
    """The page of one code in Markdown. Raises KeyError for a code that has none; `codes` lists those that have one."""
    row = rows().get(code)
    return _of_rules(code, _declared()[code]) if row is None else _of_row(row)


def refusals() -> str:
    """The document of all refusals: an index by kind, then every page."""
    sections: dict[str, list[tuple[str, str, str]]] = {kind: _index(table) for kind, table in _REFUSED}
    for code, held in sorted(_declared().items()):
        first = held[0]
        sections.setdefault(first.kind, []).append((code, first.field, f"The field {first.why}."))
    return _document(
        "Refusals",
        "What admission refuses, and why. A refusal's code stays the same from release to release; `kubectl md explain "
        "CODE` prints its page. All refusals of one write come together, in the order of the fields.",
        sections,
    )


def lints() -> str:
    """The document of all warnings: an index by kind, then every page."""
    return _document(
        "Warnings",
        "What is let in and will surprise its owner. A warning blocks nothing: clients print it beside the answer. "
        "`kubectl md explain CODE` prints its page.",
        {kind: _index(table) for kind, table in _WARNED},
    )


def _index(table: Iterable[Row[Any, Any]]) -> list[tuple[str, str, str]]:
    return sorted((row.code, row.field, row.sentence) for row in table)


def _document(title: str, lead: str, sections: Mapping[str, list[tuple[str, str, str]]]) -> str:
    lines = [
        f"# {title}",
        "",
        "<!-- Generated from the tables of admission; edit the rows, not this file. -->",
        "",
        lead,
    ]
    pages: list[str] = []
    for kind, entries in sections.items():
        lines += ["", f"## {kind}", "", "| Code | Field | What |", "|---|---|---|"]
        for code, field, sentence in entries:
            lines.append(f"| [{code}](#{code.lower()}) | {_code(field)} | {sentence.replace('|', '&#124;')} |")
            pages.append(page(code).replace("\n## ", "\n### ").replace("# ", "## ", 1))
    return "\n".join(lines) + "\n\n" + "\n".join(pages)


def _code(field: str) -> str:
    return "any" if field == "*" else f"`{field}`"


# --- pages of rows ---------------------------------------------------------------------------------------------------


def _of_row(row: Row[Any, Any]) -> str:
    told = [each for each in _answers(row, row.trigger) if isinstance(each, Unready) or each.code == row.code]
    warns = any(isinstance(each, Caution) for each in told)
    answered = "\n".join(_line(each) for each in told)
    parts = [
        f"# {row.code}",
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


def _answers(row: Row[Any, Any], example: Example) -> Iterator[Finding | Unready]:
    """Yield what is answered to an example: by the schema for its rows, by a review for the others."""
    new, old = example.objects()
    if row in structural.TABLE:
        yield from schema.violations(new)
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


# --- pages of what a schema holds alone ------------------------------------------------------------------------------


@cache
def _declared() -> Mapping[str, tuple[Rule, ...]]:
    """The cross-field rules of the kinds that no review judges, by code."""
    found: dict[str, tuple[Rule, ...]] = {}
    for module in (instancetype, kvbackend, kvpool, artifact):
        for value in vars(module).values():
            for rule in value if isinstance(value, list | tuple) else (value,):
                if isinstance(rule, Rule) and rule.code not in rows() and rule not in found.get(rule.code, ()):
                    found[rule.code] = (*found.get(rule.code, ()), rule)
    return MappingProxyType(found)


def _of_rules(code: str, held: Iterable[Rule]) -> str:
    parts = [f"# {code}"]
    said: dict[tuple[str, str, str], list[str]] = {}
    for rule in held:
        said.setdefault((rule.kind, rule.why, rule.way_out), []).append(f"`{rule.field}`")
    for (kind, why, way_out), fields in said.items():
        subject = f"{fields[0]} {why}" if len(fields) == 1 else f"any of {', '.join(fields)}: it {why}"
        parts += [f"{kind}: {subject}.", f"Way out: {way_out}."]
    parts.append("The schema of the kind holds this rule, so the API server refuses it with no webhook in between.")
    return "\n\n".join(parts) + "\n"
