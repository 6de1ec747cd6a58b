"""`kubectl md explain-render`: the origin of every value that is rendered."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from modeldeployment.operator.people import annotating
from people_renderings import IMAGE, MATRIX, rendered
from people_worlds import cluster, deployment, run

Capture = pytest.CaptureFixture[str]
ROLE = "spec.roles[0]"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Four servers with arguments, a variable and a grace period of their own."""
    own = {
        f"{ROLE}.extraArgs": ["--max-model-len", "4096"],
        f"{ROLE}.env": [{"name": "A", "value": "1"}],
        f"{ROLE}.terminationGracePeriodSeconds": 60,
    }
    return deployment(tmp_path / "md.yaml", {**IMAGE, "spec.kvCache": None, **own})


def lines(capsys: Capture, tmp_path: Path, file: Path, *arguments: str) -> list[str]:
    """What `explain-render` prints."""
    said = run(capsys, "explain-render", "-f", file, "--facts", cluster(tmp_path / "facts.yaml"), *arguments)
    assert said.status == 0, said.err
    return said.lines


def comment(found: list[str], start: str) -> str:
    """The comment of the line that begins so."""
    (line,) = (each for each in found if each.strip().startswith(start))
    return line.partition("  # ")[2]


def test_a_line_bears_whose_it_is_its_part_and_the_rule(tmp_path: Path, file: Path, capsys: Capture) -> None:
    found = lines(capsys, tmp_path, file, "--role", "server")
    assert comment(found, "terminationGracePeriodSeconds: 60").startswith("user · drain · Set grace period")
    assert comment(found, "kueue.x-k8s.io/queue-name").startswith("owned · group · Make each replica one Kueue group")
    assert comment(found, "- name: A").startswith("user · user_environment · ")


def test_arguments_have_one_line_for_each_run(tmp_path: Path, file: Path, capsys: Capture) -> None:
    found = lines(capsys, tmp_path, file, "--role", "server")
    assert comment(found, '"--max-model-len", "4096",').startswith("user · user_arguments · ")
    assert comment(found, '"vllm", "serve", "Qwen/Qwen2.5-72B-Instruct",').startswith("owned · engine_arguments · ")
    assert comment(found, '"--port", "8000",').startswith("owned · listen_arguments · ")


def test_the_comments_are_the_only_difference_to_the_object(tmp_path: Path, file: Path, capsys: Capture) -> None:
    out = "\n".join(lines(capsys, tmp_path, file, "--role", "server", "--replica", "2"))
    (pod,) = yaml.safe_load_all(rendered(capsys, tmp_path, file, "--role", "server", "--replica", "2").out)
    assert yaml.safe_load(out) == pod


@pytest.mark.parametrize("body", MATRIX)
def test_every_object_of_the_matrix_loads_as_it_is_rendered(
    body: dict[str, Any], tmp_path: Path, capsys: Capture
) -> None:
    explained = list(yaml.safe_load_all(rendered(capsys, tmp_path, body, "--explain").out))
    plain = list(yaml.safe_load_all(rendered(capsys, tmp_path, body).out))
    first = {"0", None}
    ordinal, index = "modeldeployment.gpustack.ai/pod-ordinal", "modeldeployment.gpustack.ai/member-index"

    def shown(each: dict[str, Any]) -> bool:
        labels = each["metadata"]["labels"]
        return each["kind"] != "Pod" or (labels[ordinal] == "0" and labels.get(index) in first)

    assert explained == [each for each in plain if shown(each)]


@pytest.mark.parametrize("body", MATRIX)
def test_every_line_that_holds_a_value_says_where_it_comes_from(
    body: dict[str, Any], tmp_path: Path, capsys: Capture
) -> None:
    out = rendered(capsys, tmp_path, body, "--explain").out
    texts = annotating._inside_texts(out)
    silent = [line.strip() for at, line in enumerate(out.split("\n")) if at not in texts and "  # " not in line]
    structure = re.compile(r"|---|[\w-]+:( \[)?|\]|- name: [\w-]+")
    assert [line for line in silent if not structure.fullmatch(line)] == []


def test_the_rule_of_a_value_of_several_lines_stands_on_its_first(tmp_path: Path, file: Path, capsys: Capture) -> None:
    found = lines(capsys, tmp_path, file)
    at = next(number for number, line in enumerate(found) if line.startswith("# Service qwen-72b:"))
    first, second = (line.partition("  # ")[2].split(" · ") for line in found[at + 1 : at + 3])
    assert len(first) > len(second) == 2
    assert first[:2] == second


def test_json_lists_object_path_value_part_standing_and_rule(tmp_path: Path, file: Path, capsys: Capture) -> None:
    found = json.loads("\n".join(lines(capsys, tmp_path, file, "-o", "json")))
    assert {tuple(each) for each in found} == {("object", "path", "value", "part", "standing", "rule")}
    (run_,) = (each for each in found if each["path"] == "spec.containers[main].command[extraArgs]")
    assert (run_["object"], run_["value"], run_["part"], run_["standing"]) == (
        "Pod server/0/0",
        ["--max-model-len", "4096"],
        "user_arguments",
        "user",
    )
    assert {each["standing"] for each in found} <= {"owned", "defaulted", "user"}
    assert {each["object"] for each in found} == {"Service qwen-72b", "Service qwen-72b-server", "Pod server/0/0"}


def test_a_routers_arguments_bear_the_reason_of_their_run(tmp_path: Path, capsys: Capture) -> None:
    body = json.loads(json.dumps(MATRIX[2].values[0]))
    body["spec"]["router"] |= {"extraArgs": ["--log-level=debug"], "replicas": 2}
    said = rendered(capsys, tmp_path, body, "--explain")
    assert said.status == 0, said.err
    assert comment(said.lines, '"--log-level=debug",').startswith("user · vllm-router · Further arguments")
    assert comment(said.lines, '"--kv-connector=mooncake",').startswith("owned · vllm-router · How the two halves")
    assert comment(said.lines, "replicas: 2") == "user · vllm-router · From spec.router.replicas"
    assert comment(said.lines, "image: gpustack/llm-router:v0.1.0").startswith("defaulted · vllm-router · ")


def test_of_a_role_the_first_pod_stands_for_all_unless_others_are_picked(
    tmp_path: Path, file: Path, capsys: Capture
) -> None:
    def pods(*picked: str) -> list[str]:
        return [line for line in lines(capsys, tmp_path, file, *picked) if line.lstrip("-\n").startswith("# Pod")]

    assert [line.split(":")[0] for line in pods()] == ["# Pod server/0/0"]
    assert [line.split(":")[0] for line in pods("--replica", "3")] == ["# Pod server/3/0"]
