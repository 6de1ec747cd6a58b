"""Carries out the acts of the scenario, as a user would."""

from collections.abc import Mapping
from typing import Any, assert_never

from modeldeployment.kube import Client, PatchType
from modeldeployment.lab.demo import manifests
from modeldeployment.lab.demo.errors import ClusterLost
from modeldeployment.lab.demo.history import World
from modeldeployment.lab.demo.kubectl import Kubectl, Told
from modeldeployment.lab.demo.reading import DEPLOYMENTS, PODS, image_patch, replicas_patch
from modeldeployment.lab.demo.scenario import (
    Act,
    Apply,
    ApplyFile,
    DeleteDeployment,
    DeleteFile,
    DeletePod,
    DiffFiles,
    Scale,
    SetImage,
)


async def perform(client: Client, kubectl: Kubectl, act: Act, document: Mapping[str, Any], now: World) -> Told:
    """Do one act, which is one to the deployment of `document` unless it names files.

    Returns what kubectl told, where it was kubectl that acted. Raises the client's errors, and ClusterLost without its
    Pod.
    """
    name, namespace = document["metadata"]["name"], document["metadata"]["namespace"]
    match act:
        case ApplyFile(manifest):
            return await kubectl.run("apply", "-n", namespace, "-f", str(manifests.file(manifest)))
        case DiffFiles(old, new):
            files = [str(manifests.file(each)) for each in (old, new)]
            return await kubectl.run("md", "diff", "-n", namespace, *files, "--cluster")
        case DeleteFile(manifest):
            # That it is gone is for the history to tell, which has a time limit.
            return await kubectl.run("delete", "-n", namespace, "-f", str(manifests.file(manifest)), "--wait=false")
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
