"""Every row of the case tables once more: through a real API server with the webhook installed.

A control plane of its own, since an operator would reconcile what the rows store. The rows share it one after another:
each changes the cluster it is judged against.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from admission_case import Case
from admission_tables import TABLES
from e2e_judging import Answer, ImpossibleWorld, Judge
from e2e_webhooks import Reviewed, reviewing
from modeldeployment.kube import Client, load
from modeldeployment.lab.controlplane import ControlPlane
from modeldeployment.lab.pytest_plugin.sharing import private_control_plane

pytestmark = pytest.mark.lab

IMPOSSIBLE: Final[Mapping[str, str]] = {
    "G6": "the schema asks every acceleratable InstanceType for its accelerator group",
    "N-amount-while-deleting": "the schema stores no negative interface to delete",
}
"""Rows that no API server can be asked about, and why: the schema stores neither their cluster nor their old object."""


@dataclass(frozen=True, slots=True)
class Court:
    """The webhook in charge of a namespace, and the judge who asks there."""

    reviewed: Reviewed
    judge: Judge


@pytest.fixture(scope="module")
def quiet_control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane on which no operator runs."""
    with private_control_plane(tmp_path_factory.mktemp("quiet") / "lab") as control_plane:
        yield control_plane


@pytest.fixture
async def court(quiet_control_plane: ControlPlane, tmp_path: Path) -> AsyncIterator[Court]:
    """Return what cases are judged with."""
    with reviewing(quiet_control_plane, "cases", tmp_path) as reviewed:
        async with (
            Client(load(reviewed.users), field_manager="somebody") as users,
            Client(load(reviewed.operators), field_manager="operator") as operators,
        ):
            judge = Judge(users, operators, reviewed.namespace)
            yield Court(reviewed, judge)
            await judge.clear()


async def test_every_case_comes_out_of_the_api_server_as_it_does_of_review(court: Court) -> None:
    wrong: list[str] = []
    impossible: dict[str, str] = {}
    for case in (case for table in TABLES for case in table):
        court.reviewed.judge_by(case.policy)
        try:
            answer = await court.judge.answer(case)
        except ImpossibleWorld as refused:
            impossible[case.id] = str(refused)
            continue
        if trouble := disagreement(case, answer):
            wrong.append(f"{case.id}: {trouble}")
    assert wrong == [], "\n".join(wrong)
    assert sorted(impossible) == sorted(IMPOSSIBLE), impossible


def disagreement(case: Case, answer: Answer) -> str:
    """What the API server said otherwise; empty where it agrees.

    The schema speaks before the webhook, and for fewer fields: what it says must be among what the case expects.
    """
    if answer.allowed is not (not case.refused and not case.unready):
        return f"{'allowed' if answer.allowed else f'refused: {answer.message}'}"
    if answer.allowed:
        return ""
    if case.unready:
        missing = [word for word in case.unready if word not in answer.message]
        return f"{answer.code} without {missing}: {answer.message}" if missing or answer.code != 500 else ""
    expected = {each.field for each in case.refused}
    said = {field for field, _ in answer.causes if field != "<nil>"}  # "some validation rules were not checked"
    if not answer.reviewed:
        strange = {field for field in said if not any(_same(field, each) for each in expected)}
        return f"the schema refused {sorted(strange)}: {answer.message}" if strange or not said else ""
    if answer.code == 403:  # the half that writes defaults has no type to default from
        types = [each for each in case.refused if each.field.endswith(".instanceType")]
        return "" if any(each.field in answer.message for each in types) else f"denied: {answer.message}"
    if said != expected:
        return f"fields {sorted(said)} and not {sorted(expected)}: {answer.message}"
    for each in case.refused:
        sentences = " ".join(sentence for field, sentence in answer.causes if field == each.field)
        if missing := [word for word in (each.code, *each.names) if word not in sentences]:
            return f"{each.field} says nothing of {missing}: {sentences}"
    return ""


def _same(said: str, expected: str) -> bool:
    """Whether two field paths lead to one place, or one to a part of the other: the schema stops at a list's entry."""
    return said == expected or expected.startswith((f"{said}.", f"{said}[")) or said.startswith((f"{expected}.",))
