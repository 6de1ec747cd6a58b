"""What marks the blocks of one artifact's weights in the shared store. Source: facts rendering §12."""

import json
from typing import Any

import pytest
from render_artifacts import MARK, PINNED, artifact, known, served
from render_connectors import argv, document, pods
from render_worlds import ASCEND, facts, instance_type, joined, role, store

MARKED = {
    "kv_connector": "MooncakeStoreConnector",
    "kv_role": "kv_both",
    "kv_connector_extra_config": {"cache_prefix": MARK},
}
TAG = "--hicache-storage-backend-extra-config"


def rendered(
    *kinds: str, engine: str = "vLLM", router: str | None = None, cache: bool = True, **more: Any
) -> dict[str, Any]:
    roles = [role(kind.lower(), kind=kind, **more) for kind in kinds]
    of = served(*roles, engine=engine, **joined(router=router, cache=cache))
    return pods(of, known(artifact(PINNED), store=store()))


def test_a_store_alone_marks_its_blocks() -> None:
    assert document(rendered("Server")["server"]) == MARKED


@pytest.mark.parametrize("half", ["prefill", "decode"])
def test_beside_a_leg_the_store_marks_them_and_the_leg_does_not(half: str) -> None:
    said = document(rendered("Prefill", "Decode", router="llm-d-router")[half])
    leg, stored = said["kv_connector_extra_config"]["connectors"]
    assert stored == MARKED | {"kv_role": {"prefill": "kv_both", "decode": "kv_consumer"}[half]}
    assert "cache_prefix" not in json.dumps(leg)
    assert "cache_prefix" not in said["kv_connector_extra_config"]


def test_a_leg_alone_marks_nothing() -> None:
    for half in rendered("Prefill", "Decode", router="vllm-router", cache=False).values():
        assert MARK not in argv(half)[argv(half).index("--kv-transfer-config") + 1]


def test_the_store_of_ascend_takes_no_mark() -> None:
    on_ascend = facts(instance_type(status=ASCEND), artifact=artifact(PINNED), store=store("ascend"))
    found = pods(served(**joined(cache=True)), on_ascend)["server"]
    assert document(found) == {"kv_connector": "AscendStoreConnector", "kv_role": "kv_both"}


def test_sglang_is_given_the_mark_as_a_tag_right_after_its_backend() -> None:
    line = argv(rendered("Server", engine="SGLang")["server"])
    at = line.index("--hicache-storage-backend")
    assert line[at : at + 4] == ["--hicache-storage-backend", "mooncake", TAG, f'{{"extra_backend_tag":"{MARK}"}}']
    assert line.count(TAG) == 1


@pytest.mark.parametrize("engine", ["vLLM", "SGLang"])
def test_without_a_store_nothing_is_marked(engine: str) -> None:
    assert [token for token in argv(rendered("Server", engine=engine, cache=False)["server"]) if MARK in token] == []


@pytest.mark.parametrize("engine", ["vLLM", "SGLang"])
def test_a_taken_over_role_is_given_no_mark(engine: str) -> None:
    assert argv(rendered("Server", engine=engine, command=["/bin/serve"])["server"]) == ["/bin/serve"]
