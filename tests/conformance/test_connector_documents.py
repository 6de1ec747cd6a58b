"""The documents that join engines, key by key, against the source of those that read them."""

import json
import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from conformance_connectors import KEPT, fits, kept, read
from conformance_matrix import Rendered, matrix
from conformance_parsing import OURS
from modeldeployment.api import keys
from modeldeployment.lab.pytest_plugin import ObtainProgram
from modeldeployment.render import Seat, render
from render_artifacts import HUGGING_FACE, MARK, artifact, known, served
from render_worlds import joined, role, store

DOCUMENTS = {
    "--kv-transfer-config": "KVTransferConfig",
    "--kv-events-config": "KVEventsConfig",
    "--ec-transfer-config": "ECTransferConfig",
}
READERS = {False: ("vllm",), True: ("vllm", "vllm-ascend")}
"""Whose connectors there are, by whether it runs on Ascend."""


def documents(argv: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the documents of a command line and those inside a MultiConnector's, by their configuration's name."""
    for flag, text in pairwise(argv):
        if flag in DOCUMENTS:
            yield from inside(DOCUMENTS[flag], json.loads(text))


def inside(name: str, document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield name, document
    for child in document.get("kv_connector_extra_config", {}).get("connectors", ()):
        yield from inside(name, child)


def rendered() -> Iterator[tuple[Rendered, str, dict[str, Any]]]:
    for each in matrix("vLLM"):
        for name, document in documents(each.argv):
            yield each, name, document


def connector(document: dict[str, Any]) -> str | None:
    named: str | None = document.get("kv_connector", document.get("ec_connector"))
    return named


def extra(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document.get("kv_connector_extra_config", document.get("ec_connector_extra_config", {}))
    return found


def test_every_key_is_a_field_of_its_configuration_and_its_value_of_the_fields_type() -> None:
    configurations = kept()["vllm"]["configurations"]
    for each, name, document in rendered():
        fields = configurations[name]
        strange = {key: value for key, value in document.items() if key not in fields or not fits(value, fields[key])}
        assert strange == {}, each


def test_every_connector_is_registered_by_vllm_or_on_ascend_by_its_plugin() -> None:
    facts = kept()
    named = {(connector(document), each.ascend) for each, _, document in rendered() if connector(document)}
    assert named == {
        ("ECCPUConnector", False),
        ("MooncakeConnector", False),
        ("MooncakeStoreConnector", False),
        ("MultiConnector", False),
        ("NixlConnector", False),
        ("AscendStoreConnector", True),
        ("MooncakeConnectorV1", True),
        ("MultiConnector", True),
    }
    for name, ascend in named:
        assert any(name in facts[package]["connectors"] for package in READERS[ascend]), name


def test_every_key_for_a_connector_is_looked_up_by_it() -> None:
    facts = kept()
    for each, _, document in rendered():
        name = connector(document) or ""
        looked_up = {key for package in READERS[each.ascend] for key in facts[package]["keys"].get(name, ())}
        given = set(extra(document)) | {key for half in ("prefill", "decode") for key in extra(document).get(half, ())}
        assert given <= looked_up, each


def test_the_mark_of_an_artifacts_blocks_is_looked_up_by_vllms_store_and_by_no_other() -> None:
    deployment = served(role(), **joined(cache=True))
    rendering = render(deployment, known(artifact(HUGGING_FACE), store=store("tcp")))
    (main,) = rendering.roles[0].template.pod(Seat(0, 0))["spec"]["containers"]
    ((_, document),) = documents(main["command"])
    assert document["kv_connector_extra_config"] == {"cache_prefix": MARK}
    facts = kept()
    assert "cache_prefix" in facts["vllm"]["keys"]["MooncakeStoreConnector"]
    assert "cache_prefix" not in facts["vllm-ascend"]["keys"]["AscendStoreConnector"]


def test_vllm_reads_every_key_of_the_clients_document_and_the_plugin_for_ascend_knows_neither_mode_nor_tenant() -> None:
    facts = kept()
    said = {
        each.ascend: set(json.loads(document))
        for each in matrix("vLLM")
        if (document := each.pod["metadata"]["annotations"].get(keys.CLIENT_CONFIG))
    }
    assert set(said) == {False, True}
    assert said[False] - set(facts["vllm"]["client"]) == set()
    assert said[True] - set(facts["vllm-ascend"]["client"]) == {"mode", "tenant_id"}


def test_a_wrong_key_and_a_wrong_type_would_be_seen() -> None:
    fields = kept()["vllm"]["configurations"]["KVTransferConfig"]
    assert "kv_conector" not in fields
    assert not fits("8998", fields["kv_port"])
    assert not fits(True, fields["kv_port"])
    assert fits(8998, fields["kv_port"])
    assert OURS not in kept()["vllm"]["connectors"]


@pytest.mark.parametrize("package", ["vllm", "vllm-ascend"])
def test_what_is_kept_is_what_the_source_says(program: ObtainProgram, package: str) -> None:
    found = read(program(package))
    if os.environ.get("UPDATE_GOLDEN"):
        KEPT.write_text(json.dumps({**kept(), package: found}, indent=2) + "\n")
    assert kept()[package] == found
