"""YAML and JSON files as kubectl reads them, and where everything in them stands."""

from pathlib import Path
from typing import Any

import pytest
from modeldeployment.admission import patching
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people.manifests import NODES, Manifest, read
from people_scalars import SCALARS


def objects(folder: Path, text: str, name: str = "objects.yaml") -> list[Manifest]:
    (folder / name).write_text(text, encoding="utf-8")
    return list(read([str(folder / name)]))


def refused(folder: Path, text: str) -> str:
    with pytest.raises(UsageError) as raised:
        objects(folder, text)
    return str(raised.value).removeprefix(f"{folder}/")


@pytest.mark.parametrize(("text", "value"), SCALARS.items(), ids=SCALARS)
def test_a_value_is_read_as_kubectl_reads_it(text: str, value: Any, tmp_path: Path) -> None:
    (found,) = objects(tmp_path, f"a: {text}\n")
    assert found.body == {"a": value}
    assert type(found.body["a"]) is type(value)


def test_a_stream_holds_several_objects_and_empty_documents_are_none(tmp_path: Path) -> None:
    found = objects(tmp_path, "---\na: 1\n---\n# nothing\n---\nb: 2\n---\n- 3\n")
    assert [each.body for each in found] == [{"a": 1}, {"b": 2}]


def test_a_list_is_its_items_each_where_it_stands(tmp_path: Path) -> None:
    found = objects(tmp_path, "kind: List\nitems:\n- kind: A\n- kind: B\n  spec:\n    x: 1\n")
    assert [each.kind for each in found] == ["A", "B"]
    assert found[1].position(["spec", "x"]) == (6, 8)


def test_json_is_read_as_well(tmp_path: Path) -> None:
    (found,) = objects(tmp_path, '{\n\t"kind": "A",\n\t"spec": {"x": [1, 2.0]}\n}', "objects.json")
    assert found.body == {"kind": "A", "spec": {"x": [1, 2]}}
    assert found.position(["spec", "x", 1]) == (3, 20)


def test_a_directory_is_read_with_all_below_it_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/one.yml", "a.yaml", "c.json"):
        (tmp_path / name).write_text(f'{{"name": "{name}"}}')
    (tmp_path / "notes.txt").write_text("not: read")
    assert [each.body["name"] for each in read([str(tmp_path)])] == ["a.yaml", "b/one.yml", "c.json"]


def test_merged_keys_and_aliases_are_what_they_stand_for(tmp_path: Path) -> None:
    (found,) = objects(tmp_path, "base: &base {a: 1, b: 2}\nmade:\n  <<: *base\n  b: 3\nsame: *base\n")
    assert found.body["made"] == {"a": 1, "b": 3}
    assert found.body["same"] == {"a": 1, "b": 2}


DEPLOYMENT = """\
kind: ModelDeployment
spec:
  engine: {name: vLLM, version: "1"}
  roles:
    - name: server
      extraArgs:
        - --a
        - --b
      template:
        spec: {}
"""


@pytest.mark.parametrize(
    ("field", "position"),
    [
        ("spec.roles[0].extraArgs[1]", (8, 11)),
        ("spec.roles[0].name", (5, 13)),
        ("spec.roles[0]", (5, 7)),
        ("spec.engine.version", (3, 33)),
        ("spec.engine", (3, 11)),
        ("spec.roles", (4, 3)),
        ("spec.roles[0].template", (9, 7)),
        ("spec.roles[0].resources.accelerator", (5, 7)),
        ("spec.kvCache.poolRef.name", (2, 1)),
        ("metadata.name", (1, 1)),
        ("spec.roles[7].name", (4, 3)),
    ],
)
def test_a_field_stands_where_its_value_begins_or_the_nearest_thing_around_it(
    field: str, position: tuple[int, int], tmp_path: Path
) -> None:
    (found,) = objects(tmp_path, DEPLOYMENT)
    assert found.position(patching.steps(field)) == position


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [1\n", "objects.yaml:2:1: not YAML: did not find expected ',' or ']'"),
        ("a: 1\na: 2\n", "objects.yaml:2:1: the key a is already there, and one of the two would be dropped"),
        ("? [x]\n: 1\n", "objects.yaml:1:3: a key must be a plain text"),
        ("a: &a [*a]\n", "objects.yaml:1:4: an alias stands inside what it stands for"),
        ("a: *b\n", "objects.yaml:1:4: not YAML: found undefined alias"),
        ("a: {<<: 1}\n", "objects.yaml:1:9: << takes a mapping, or a list of them"),
        ("[" * 20_000, "objects.yaml:1:1001: not YAML: exceeded maximum nesting depth"),
    ],
)
def test_what_is_no_yaml_is_told_with_its_line_and_column(text: str, said: str, tmp_path: Path) -> None:
    assert refused(tmp_path, text) == said


def test_aliases_that_expand_to_billions_are_told_and_not_expanded(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 10)]
    assert refused(tmp_path, "\n".join(lines)).endswith(f"its aliases expand to more than {NODES} values")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file or directory"):
        list(read([str(tmp_path / "none.yaml")]))


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "image.yaml").write_bytes(b"a: \xff\xfe")
    with pytest.raises(UsageError, match="is no text: byte 3 is not UTF-8"):
        list(read([str(tmp_path / "image.yaml")]))
