"""Verdicts for people and for programs."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import typer

from modeldeployment.admission import patching, telling
from modeldeployment.admission.verdict import Finding
from modeldeployment.operator.people.judging import Judged


def for_people(judged: Sequence[Judged], *, colours: bool) -> Iterator[str]:
    """Every finding where it stands in its file, each with its way out, what was not checked, and a tally, in lines."""

    def painted(text: str, colour: str) -> str:
        return typer.style(text, fg=colour, bold=True) if colours else text

    for each in judged:
        for refusal in each.verdict.refusals:
            yield from _finding(each, refusal, painted("refused", "red"), _claim(refusal))
        for unready in each.verdict.unready:
            yield f"{_at(each, unready.field)}: {painted('not ready', 'red')} {unready.field}: {unready.why}"
            yield "hint: try again once it has been observed"
        for warning in each.verdict.warnings:
            yield from _finding(each, warning, painted("warning", "yellow"), warning.why)
    for name in dict.fromkeys(name for each in judged for name in each.verdict.unread):
        yield f"not checked: {name} (pass --facts or --cluster)"
    yield _tally(judged)


def for_programs(judged: Iterable[Judged]) -> str:
    """The same as one JSON document."""
    return json.dumps({"objects": [_object(each) for each in judged]}, indent=2, ensure_ascii=False)


def _claim(finding: Finding) -> str:
    """What the API server says of a refusal, without the way out and the code, which stand elsewhere here."""
    return telling.sentence(replace(finding, way_out="")).removesuffix(f" ({finding.code})")


def _finding(judged: Judged, finding: Finding, word: str, claim: str) -> Iterator[str]:
    yield f"{_at(judged, finding.field)}: {word} {finding.code} {finding.field}: {claim}"
    if finding.way_out:
        yield f"hint: {finding.way_out}"


def _at(judged: Judged, field: str) -> str:
    line, column = judged.manifest.position(patching.steps(field))
    return f"{judged.manifest.file}:{line}:{column}"


def _tally(judged: Sequence[Judged]) -> str:
    allowed = sum(each.verdict.allowed for each in judged)
    refusals = sum(len(each.verdict.refusals) for each in judged)
    warnings = sum(len(each.verdict.warnings) for each in judged)
    return (
        f"{count(len(judged), 'object')}: {allowed} allowed, {len(judged) - allowed} refused "
        f"({count(refusals, 'refusal')}, {count(warnings, 'warning')})"
    )


def count(number: int, word: str, ending: str = "s") -> str:
    """A number with its word, in the plural where there is not one."""
    return f"{number} {word}{'' if number == 1 else ending}"


def _object(judged: Judged) -> dict[str, Any]:
    verdict = judged.verdict
    return {
        "kind": judged.manifest.kind,
        "name": judged.manifest.name,
        "allowed": verdict.allowed,
        "refusals": [telling.as_json(each) for each in verdict.refusals],
        "warnings": [telling.as_json(each) for each in verdict.warnings],
        "defaulted": verdict.defaulted,
        "namespace": judged.namespace or None,
        "file": judged.manifest.file,
        "unread": list(verdict.unread),
        "unready": [{"field": each.field, "message": each.why} for each in verdict.unready],
    }
