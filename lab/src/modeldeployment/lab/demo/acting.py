"""Carries out the acts of the scenario, as a user would."""

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, assert_never

import yaml

from modeldeployment.kube import Client, PatchType
from modeldeployment.lab.demo.errors import ClusterLost
from modeldeployment.lab.demo.history import World
from modeldeployment.lab.demo.kubectl import Kubectl, Told
from modeldeployment.lab.demo.reading import DEPLOYMENTS, PODS, image_patch, replicas_patch
from modeldeployment.lab.demo.scenario import Act, Apply, ApplyWrong, DeleteDeployment, DeletePod, Scale, SetImage

MANIFEST = "qwen-chat.yaml"
WRONG_MANIFEST = "qwen-wrong.yaml"


def manifest(namespace: str, instance_type: str) -> dict[str, Any]:
    """Return the minimal deployment of spec 1, without the cache it marks as optional, in that namespace."""
    text = resources.files(__package__).joinpath(MANIFEST).read_text("utf-8")
    document: dict[str, Any] = yaml.safe_load(text)
    document["metadata"]["namespace"] = namespace
    for role in document["spec"]["roles"]:
        role["instanceType"] = instance_type
    return document


def wrong_manifest() -> Path:
    """Return the file of the wrong manifest, relative to the working directory where it lies below."""
    file = Path(__file__).with_name(WRONG_MANIFEST)
    return file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file


async def perform(client: Client, kubectl: Kubectl, act: Act, document: Mapping[str, Any], now: World) -> Told:
    """Do one act to the deployment of `document` and return what kubectl told, where it was kubectl that acted.

    Raises the client's errors, and ClusterLost without its Pod.
    """
    name, namespace = document["metadata"]["name"], document["metadata"]["namespace"]
    match act:
        case ApplyWrong():
            return await kubectl.run("apply", "-n", namespace, "-f", str(wrong_manifest()))
        case Apply():
            await client.patch(DEPLOYMENTS, name, document, namespace, how=PatchType.APPLY)
        case Scale(replicas):
            await client.patch(DEPLOYMENTS, name, replicas_patch(replicas), namespace, how=PatchType.JSON)
        case SetImage(image):
            await client.patch(DEPLOYMENTS, name, image_patch(image), namespace, how=PatchType.JSON)
        case DeletePod(ordinal):
            pod = next((each for each in now.pods if each.ordinal == ordinal), None)
            if pod is None:
                raise ClusterLost(f"no Pod holds ordinal {ordinal}, so none can be deleted")
            await client.delete(PODS, pod.name, namespace, uid=pod.uid)
        case DeleteDeployment():
            await client.delete(DEPLOYMENTS, name, namespace)
        case other:
            assert_never(other)
    return Told()
