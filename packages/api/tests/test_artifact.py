from typing import Any

import pytest
from modeldeployment.api import ModelArtifact
from pydantic import ValidationError

DIGEST = "sha256:" + "0a" * 32


def read(source: dict[str, Any], **spec: Any) -> ModelArtifact:
    return ModelArtifact.model_validate({"metadata": {"name": "qwen"}, "spec": {"source": source, **spec}})


def test_a_hub_is_read_at_its_main_branch_unless_it_is_said() -> None:
    hugging_face = read({"huggingFace": {"repository": "Qwen/Qwen3-8B"}}).spec.source.hugging_face
    model_scope = read({"modelScope": {"repository": "Qwen/Qwen3-8B"}}).spec.source.model_scope
    assert hugging_face is not None
    assert model_scope is not None
    assert (hugging_face.revision, model_scope.revision) == ("main", "master")


def test_every_source_is_read_and_written_back() -> None:
    for source in (
        {"huggingFace": {"repository": "Qwen/Qwen3-8B", "revision": "v1", "secretRef": {"name": "hub"}}},
        {"modelScope": {"repository": "Qwen/Qwen3-8B", "revision": "v1"}},
        {"persistentVolumeClaim": {"claimName": "weights", "path": "qwen/8b"}},
        {"image": {"reference": f"registry.example/qwen@{DIGEST}"}},
    ):
        assert read(source).spec.source.body() == source


@pytest.mark.parametrize(
    "source",
    [
        {"huggingFace": {"repository": ""}},
        {"huggingFace": {"repository": "a", "revision": "r" * 256}},
        {"huggingFace": {"repository": "a", "secretRef": {"name": ""}}},
        {"persistentVolumeClaim": {"claimName": "weights", "path": "/absolute"}},
        {"image": {"reference": "registry.example/qwen:latest"}},
    ],
)
def test_a_source_outside_the_schema_is_refused(source: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        read(source)


@pytest.mark.parametrize(
    "spec", [{"allowPatterns": ["*"] * 33}, {"ignorePatterns": [""]}, {"expectedDigest": "sha256:short"}]
)
def test_a_choice_of_files_outside_the_schema_is_refused(spec: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        read({"huggingFace": {"repository": "a"}}, **spec)


def test_what_weights_were_resolved_to_is_read_and_written_back() -> None:
    resolved = {
        "revision": "4f" * 20,
        "manifestDigest": DIGEST,
        "digestSource": "Hub",
        "fileCount": 40,
        "sizeBytes": 145_000_000_000,
    }
    artifact = ModelArtifact.model_validate(
        {"spec": {"source": {"huggingFace": {"repository": "a"}}}, "status": {"resolved": resolved}}
    )
    assert artifact.status.body() == {"resolved": resolved}
