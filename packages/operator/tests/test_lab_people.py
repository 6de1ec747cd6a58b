"""`kubectl md` as a plugin of the real kubectl, against a real API server."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from modeldeployment.admission.examples import CLUSTER, DEPLOYMENT, Change, changed
from modeldeployment.kube import Client, Kind, PatchType, custom
from modeldeployment.operator.people.manifests import read
from people_scalars import SCALARS
from people_worlds import Said, deployment, written

pytestmark = pytest.mark.lab

PLUGINS = Path(sys.executable).parent


def kind(plural: str, name: str, *, namespaced: bool) -> Kind[Any]:
    return custom("worker.gpustack.ai", "v1", plural, name, namespaced=namespaced)


DEPLOYMENTS = kind("modeldeployments", "ModelDeployment", namespaced=True)
INSTANCE_TYPES = kind("instancetypes", "InstanceType", namespaced=False)


async def kubectl(control_plane: Any, *arguments: str | Path) -> Said:
    """Run the lab's kubectl with our plugin on its PATH."""
    done = await asyncio.to_thread(
        subprocess.run,
        [control_plane.bin / "kubectl", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": f"{PLUGINS}:{os.environ['PATH']}", "KUBECONFIG": str(control_plane.kubeconfig), "HOME": "/none"},
    )
    return Said(done.returncode, done.stdout, done.stderr)


async def stand(client: Client, namespace: str) -> str:
    """Create an observed InstanceType of the test's own and a deployment that names it; returns the type's name."""
    from modeldeployment.lab.flavors.installing import install_kinds  # not at hand where the package stands alone

    await install_kinds(client)
    observed = next(each for each in CLUSTER if each["metadata"]["name"] == "h20-8x")
    body = changed(observed, {"metadata": {"name": namespace}})
    await client.create(INSTANCE_TYPES, body)
    status = {"status": body["status"]}
    await client.patch(INSTANCE_TYPES, namespace, status, how=PatchType.MERGE, subresource="status")
    await client.create(DEPLOYMENTS, changed(DEPLOYMENT, of(namespace)), namespace)
    return namespace


def of(namespace: str) -> Change:
    """What makes the examples' deployment one of this namespace."""
    return {"metadata.namespace": namespace, "spec.roles[0].instanceType": namespace}


async def test_what_the_cluster_holds_is_looked_up_and_the_stored_object_is_the_old_one(
    control_plane: Any, kube_client: Client, namespace: str, tmp_path: Path
) -> None:
    name = await stand(kube_client, namespace)
    try:
        edit = {
            **of(namespace),
            "spec.roles[0].resources.accelerator": 9,
            "spec.roles[0].privileged": True,
        }
        file = deployment(tmp_path / "md.yaml", edit)
        said = await kubectl(control_plane, "md", "validate", "-f", file, "--cluster", "-o", "json")
        assert said.status == 1, said.err
        (found,) = said.objects
        assert [(each["code"], each["field"]) for each in found["refusals"]] == [
            ("MD033", "spec.roles[0].resources"),
            ("MD035", "spec.roles[0].resources.accelerator"),
            ("MD028", "spec.roles[0].privileged"),
        ]
        assert found["unread"] == []
        same = deployment(tmp_path / "same.yaml", of(namespace))
        assert (await kubectl(control_plane, "md", "validate", "-f", same, "--cluster")).status == 0
        other = deployment(tmp_path / "other.yaml", {**edit, "metadata.name": "other"})
        said = await kubectl(control_plane, "md", "validate", "-f", other, "--cluster", "-o", "json")
        assert "MD035" in [each["code"] for each in said.objects[0]["refusals"]]
    finally:
        await kube_client.delete(INSTANCE_TYPES, name)


async def test_a_fact_that_is_given_counts_before_the_cluster(
    control_plane: Any, kube_client: Client, namespace: str, tmp_path: Path
) -> None:
    name = await stand(kube_client, namespace)
    try:
        larger = changed(
            next(each for each in CLUSTER if each["metadata"]["name"] == "h20-8x"),
            {"metadata": {"name": name}, "status.accelerator.capacity": "16"},
        )
        facts = written(tmp_path / "facts.yaml", larger)
        edit = {**of(namespace), "metadata.name": "other", "spec.roles[0].resources.accelerator": 9}
        file = deployment(tmp_path / "md.yaml", {**edit, "spec.roles[0].replicas": 1})
        assert (await kubectl(control_plane, "md", "validate", "-f", file, "--cluster")).status == 1
        said = await kubectl(control_plane, "md", "validate", "-f", file, "--cluster", "--facts", facts)
        assert said.status == 0, said.out
    finally:
        await kube_client.delete(INSTANCE_TYPES, name)


async def test_what_is_rendered_against_the_cluster_belongs_to_the_stored_object(
    control_plane: Any, kube_client: Client, namespace: str, tmp_path: Path
) -> None:
    name = await stand(kube_client, namespace)
    try:
        file = deployment(tmp_path / "md.yaml", {**of(namespace), "metadata.uid": "of the file"})
        picked = ("--role", "server", "--replica", "0", "-o", "json")
        said = await kubectl(control_plane, "md", "render", "-f", file, "--cluster", *picked)
        assert said.status == 0, said.err
        stored = await kube_client.get(DEPLOYMENTS, "qwen-72b", namespace)
        (owner,) = json.loads(said.out)["metadata"]["ownerReferences"]
        assert owner["uid"] == stored.metadata.uid
        assert "there is no KVCachePoolBinding shared-kv: rendered without the shared store" in said.err
        edited = deployment(tmp_path / "new.yaml", {**of(namespace), "spec.roles[0].replicas": 2})
        said = await kubectl(control_plane, "md", "diff", file, edited, "--cluster")
        assert (said.status, said.out.splitlines()[0]) == (1, "role server: scale only (4 → 2): 2 Pods deleted")
    finally:
        await kube_client.delete(INSTANCE_TYPES, name)


async def test_values_are_read_as_kubectl_itself_reads_them(control_plane: Any, tmp_path: Path) -> None:
    names = {f"a{number:02}": text for number, text in enumerate(SCALARS)}
    lines = "".join(f"  {name}: {text}\n" for name, text in names.items() if "\\u" not in text)
    file = tmp_path / "scalars.yaml"
    file.write_text(f"apiVersion: example.org/v1\nkind: Example\nmetadata: {{name: a}}\nspec:\n{lines}")
    said = await kubectl(control_plane, "annotate", "--local", "-f", file, "a=b", "-o", "json")
    (ours,) = read([str(file)])
    assert json.loads(said.out)["spec"] == ours.body["spec"], said.err
