"""`kubectl md explain` and the options that are no command."""

import pytest
from people_worlds import run


def test_a_code_has_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    said = run(capsys, "explain", "MD012")
    assert said.status == 0
    assert said.lines[0] == "# MD012"
    assert "Operator-owned keys" in said.out


def test_a_code_in_small_letters_has_the_same_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "explain", "mdw01").lines[0] == "# MDW01"


def test_without_a_code_all_are_listed_with_their_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    said = run(capsys, "explain")
    assert said.status == 0
    assert "MD001  A deployment has at most ten roles." in said.lines
    assert said.lines == sorted(said.lines)
    assert {line.split()[0][:3] for line in said.lines} == {"MD0", "MD1", "MD2", "MD9", "MDW"}


def test_a_code_that_is_none_is_told_those_that_are_close(capsys: pytest.CaptureFixture[str]) -> None:
    said = run(capsys, "explain", "MD0012")
    assert (said.status, said.out) == (2, "")
    assert "there is no code MD0012; did you mean" in said.err
    assert "MD012" in said.err


def test_a_word_that_is_near_no_code_is_told_of_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "explain", "quota").err == (
        "kubectl md: there is no code quota; kubectl md explain lists all codes\n"
    )


def test_the_version_is_that_of_every_member(capsys: pytest.CaptureFixture[str]) -> None:
    said = run(capsys, "--version")
    assert said.status == 0
    assert [line.split()[0] for line in said.lines] == [
        "modeldeployment-api",
        "modeldeployment-kube",
        "modeldeployment-router",
        "modeldeployment-render",
        "modeldeployment-reconcile",
        "modeldeployment-admission",
        "modeldeployment-operator",
    ]


@pytest.mark.parametrize(
    "arguments", [["explian"], ["explain", "MD001", "MD002"], ["validate"], ["validate", "--nope"]]
)
def test_wrong_use_leaves_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    said = run(capsys, *arguments)
    assert (said.status, said.out) == (2, "")
    assert "kubectl md" in said.err
