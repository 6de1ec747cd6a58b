"""`kubectl md gitops`: the settings have the very shape of the specification, and no name is guessed."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from people_clusters import Cluster, served
from people_worlds import run, written

Capture = pytest.CaptureFixture[str]

ARGOCD = """\
spec:
  ignoreDifferences:
    - group: worker.gpustack.ai
      kind: ModelDeployment
      name: llm-serving
      namespace: default
      jsonPointers:
        - /spec/roles/0/replicas
        - /metadata/annotations/modeldeployment.gpustack.ai~1scaler-binding
        - /metadata/annotations/modeldeployment.gpustack.ai~1scaler-decision
  syncPolicy:
    syncOptions:
      - RespectIgnoreDifferences=true
"""
FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
spec:
  ignore:
    - target:
        group: worker.gpustack.ai
        kind: ModelDeployment
        name: llm-serving
        namespace: default
      paths:
        - /spec/roles/0/replicas
        - /metadata/annotations/modeldeployment.gpustack.ai~1scaler-binding
        - /metadata/annotations/modeldeployment.gpustack.ai~1scaler-decision
"""
"""Both as document 3 shows them."""


def body(name: str = "llm-serving", *roles: str, namespace: str | None = None) -> dict[str, Any]:
    return {
        "apiVersion": "worker.gpustack.ai/v1",
        "kind": "ModelDeployment",
        "metadata": {"name": name} | ({"namespace": namespace} if namespace else {}),
        "spec": {"roles": [{"name": role} for role in roles or ("server",)]},
    }


@pytest.mark.parametrize(("whose", "shown"), [("argocd", ARGOCD), ("flux", FLUX)])
def test_of_one_role_it_is_what_the_specification_shows(
    whose: str, shown: str, tmp_path: Path, capsys: Capture
) -> None:
    said = run(capsys, "gitops", "llm-serving", "--for", whose, "-f", written(tmp_path / "d.yaml", body()))
    assert (said.status, said.out, said.err) == (0, shown, "")


@pytest.mark.parametrize("whose", ["argocd", "flux"])
def test_every_role_has_its_own_pointer_and_the_live_object_is_read(
    whose: str, tmp_path: Path, capsys: Capture
) -> None:
    cluster = Cluster()
    cluster.put("modeldeployments", body("llm-serving", "encode", "prefill", "decode", namespace="team-a"))
    with served(cluster, tmp_path) as kubeconfig:
        said = run(capsys, "gitops", "llm-serving", "--for", whose, "-n", "team-a", "--kubeconfig", kubeconfig)
    spec = yaml.safe_load(said.out)["spec"]
    entry = spec["ignoreDifferences"][0] if whose == "argocd" else spec["ignore"][0]
    assert entry["jsonPointers" if whose == "argocd" else "paths"] == [
        "/spec/roles/0/replicas",
        "/spec/roles/1/replicas",
        "/spec/roles/2/replicas",
        "/metadata/annotations/modeldeployment.gpustack.ai~1scaler-binding",
        "/metadata/annotations/modeldeployment.gpustack.ai~1scaler-decision",
    ]
    assert (entry if whose == "argocd" else entry["target"])["namespace"] == "team-a"


@pytest.mark.parametrize("name", ["1e3", "123", "on", "null", "0x1f"])
def test_a_name_that_yaml_would_take_for_something_else_stays_a_name(
    name: str, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "d.json").write_text(json.dumps(body(name)))
    said = run(capsys, "gitops", name, "--for", "argocd", "-f", tmp_path / "d.json")
    assert yaml.safe_load(said.out)["spec"]["ignoreDifferences"][0]["name"] == name
    assert f"name: '{name}'" in said.out or f'name: "{name}"' in said.out


def test_the_namespace_of_the_file_counts_unless_another_is_asked_for(tmp_path: Path, capsys: Capture) -> None:
    file = written(tmp_path / "d.yaml", body(namespace="team-a"), body(namespace="team-b"))
    said = run(capsys, "gitops", "llm-serving", "--for", "flux", "-f", file, "-n", "team-b")
    assert "        namespace: team-b\n" in said.out
    several = run(capsys, "gitops", "llm-serving", "--for", "flux", "-f", file)
    assert several.err == (
        f"kubectl md: ModelDeployment llm-serving is there 2 times: {file}:1, {file}:10; "
        "name one with -n or give one file\n"
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("other",), "{file}: there is no ModelDeployment other; there is default/llm-serving"),
        (
            ("llm-serving", "-n", "team-a"),
            "{file}: there is no ModelDeployment team-a/llm-serving; there is default/llm-serving",
        ),
        (("mds/llm-serving",), "{file}: there is no ModelDeployment mds/llm-serving; there is default/llm-serving"),
    ],
)
def test_a_name_that_is_not_there_is_told_with_those_that_are(
    arguments: tuple[str, ...], told: str, tmp_path: Path, capsys: Capture
) -> None:
    file = written(tmp_path / "d.yaml", body())
    said = run(capsys, "gitops", *arguments, "--for", "argocd", "-f", file)
    assert (said.status, said.out, said.err) == (2, "", f"kubectl md: {told.format(file=file)}\n")


def test_a_name_that_the_cluster_does_not_know_is_told(tmp_path: Path, capsys: Capture) -> None:
    with served(Cluster(), tmp_path) as kubeconfig:
        said = run(capsys, "gitops", "none", "--for", "argocd", "--kubeconfig", kubeconfig)
    assert (said.status, said.err) == (2, "kubectl md: there is no ModelDeployment default/none\n")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "{file}: there is no ModelDeployment llm; there is none at all"),
        (b"kind: [\n", "{file}:2:1: not YAML: did not find expected node content"),
        (b"\xff\xfe\x00", "{file} is no text: byte 0 is not UTF-8"),
        (
            b"kind: ModelDeployment\nmetadata: {name: llm}\n",
            "ModelDeployment llm has no spec.roles, so there are no counts to ignore",
        ),
        (
            b"kind: ModelDeployment\nmetadata: {name: llm}\nspec: {roles: {a: 1}}\n",
            "ModelDeployment llm has no spec.roles, so there are no counts to ignore",
        ),
        (
            b"kind: ModelDeployment\nmetadata: {name: llm}\nspec: all\n",
            "ModelDeployment llm has no spec.roles, so there are no counts to ignore",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_told(content: bytes, told: str, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "d.yaml"
    file.write_bytes(content)
    said = run(capsys, "gitops", "llm", "--for", "argocd", "-f", file)
    assert (said.status, said.out, said.err) == (2, "", f"kubectl md: {told.format(file=file)}\n")


def test_whose_settings_are_wanted_has_to_be_said(tmp_path: Path, capsys: Capture) -> None:
    file = written(tmp_path / "d.yaml", body())
    assert "Missing option '--for'" in run(capsys, "gitops", "llm-serving", "-f", file).err
    assert "'jenkins' is not one of" in run(capsys, "gitops", "llm-serving", "-f", file, "--for", "jenkins").err
    missing = run(capsys, "gitops", "llm-serving", "--for", "flux", "-f", tmp_path / "none.yaml")
    assert missing.err == f"kubectl md: {tmp_path}/none.yaml cannot be read: No such file or directory\n"
