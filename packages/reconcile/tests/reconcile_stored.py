"""Objects as the API server stores them, and stores with a few of them: what watching and following are tested on.

Unless a test says otherwise, deployment `chat` in namespace `team` names the binding `share` and the artifact `qwen`.
"""

from typing import Any

import msgspec
from modeldeployment.kube import shapes
from modeldeployment.reconcile import Key, Watched

VERSIONS = iter(range(1, 10_000))
CHAT = Key("team", "chat")


def stored(
    name: str, spec: object = None, status: object = None, *, namespace: str = "", uid: str = ""
) -> shapes.Custom:
    """An object of a custom kind, newer than every other."""
    meta = shapes.ObjectMeta(
        name=name, namespace=namespace, uid=uid or f"uid-{name}", resource_version=str(next(VERSIONS))
    )
    raw = [msgspec.Raw(msgspec.json.encode(each or {})) for each in (spec, status)]
    return shapes.Custom(metadata=meta, spec=raw[0], status=raw[1])


def deployment(name: str = "chat", *, namespace: str = "team", cache: str = "", artifact: str = "") -> shapes.Custom:
    """A stored deployment of one role."""
    model = {"name": "qwen", **({"artifactRef": {"name": artifact}} if artifact else {})}
    spec: dict[str, Any] = {"model": model, "engine": {"name": "vLLM", "image": "e:1"}}
    spec["roles"] = [{"name": "server", "instanceType": "a10"}]
    if cache:
        spec["kvCache"] = {"poolRef": {"name": cache}}
    return stored(name, spec, namespace=namespace, uid=f"{namespace}-{name}")


def binding(status: dict[str, Any] | None = None, *, namespace: str = "team") -> shapes.Custom:
    """The binding `share` to the pool `big`, ready unless `status` says otherwise."""
    domain = {"name": "team", "blockSize": 16, "dtype": "bfloat16"}
    spec = {"poolRef": {"name": "big"}, "quota": {"ceiling": "1Gi"}, "domain": domain}
    granted = {"phase": "Ready", "conditions": [{"type": "QuotaGranted", "status": "True"}]}
    return stored("share", spec, granted if status is None else status, namespace=namespace)


def pool(name: str = "big", **status: Any) -> shapes.Custom:
    """A pool on the backend `rack`, whose store answers."""
    spec = {"backends": [{"name": "rack"}], "quota": {"total": "1Ti"}}
    return stored(name, spec, {"clientEndpoint": "store.kv.svc:50051", **status})


def backend(name: str = "rack", protocol: str = "TCP") -> shapes.Custom:
    """A backend that runs elsewhere."""
    external = {"endpoints": [{"name": "Client", "address": "store.kv.svc:50051"}]}
    return stored(name, {"connection": {"external": external}, "transport": {"protocol": protocol}})


def artifact(status: dict[str, Any] | None = None, *, namespace: str = "team", **source: Any) -> shapes.Custom:
    """The artifact `qwen`, of Hugging Face unless `source` says otherwise."""
    spec = {"source": source or {"huggingFace": {"repository": "Qwen/Qwen2.5-7B"}}}
    return stored("qwen", spec, status, namespace=namespace)


def watched() -> tuple[Watched, list[Key]]:
    """Stores with three deployments, of which `chat` in `team` alone names the cache and the artifact."""
    woken: list[Key] = []
    stores = Watched(woken.append)
    for each in (
        deployment(cache="share", artifact="qwen"),
        deployment("plain"),
        deployment("other", namespace="others", cache="share", artifact="qwen"),
    ):
        stores.deployments.put(each)
    woken.clear()
    return stores, woken


def full() -> tuple[Watched, list[Key]]:
    """The same with the whole way to the store."""
    stores, woken = watched()
    for store, thing in ((stores.backends, backend()), (stores.pools, pool()), (stores.bindings, binding())):
        store.put(thing)
    woken.clear()
    return stores, woken


def claim(phase: str = "Bound", *modes: str, name: str = "weights") -> shapes.PersistentVolumeClaim:
    """A volume claim of the namespace, newer than every other."""
    meta = shapes.ObjectMeta(name=name, namespace="team", uid=f"uid-{name}", resource_version=str(next(VERSIONS)))
    return shapes.PersistentVolumeClaim(
        metadata=meta, spec=shapes.ClaimSpec(access_modes=modes), status=shapes.ClaimStatus(phase=phase)
    )
