"""A process of its own that holds Pods in memory and says what that cost.

Run as `python -m modeldeployment.lab.bench.filling ours KUBECONFIG NAMESPACE`, which lists the Pods with our client and
puts them into our store as a reflector does, or as `… filling stock FILE`, which holds a recorded LIST as the official
client's models. Prints one JSON object: `pods`, and the difference in MiB of resident memory (`rss`) and, in a run with
`-X tracemalloc`, of traced allocations (`traced`).
"""

import asyncio
import ctypes
import gc
import json
import sys
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import psutil  # type: ignore[import-untyped]

from modeldeployment.kube import Client, Store, load, shapes
from modeldeployment.kube.kinds import PODS

_MIB: Final = 1 << 20
_FEW: Final = 10


def main() -> None:
    """Fill what the command line names."""
    match sys.argv[1:]:
        case ["ours", kubeconfig, namespace]:
            report = asyncio.run(_ours(Path(kubeconfig), namespace))
        case ["stock", file]:
            report = _stock(Path(file).read_bytes())
        case other:
            raise SystemExit(f"{other} is neither `ours KUBECONFIG NAMESPACE` nor `stock FILE`")
    print(json.dumps(report))


async def _ours(kubeconfig: Path, namespace: str) -> dict[str, float]:
    """Fill our store with the indexes that the operator has."""
    async with Client(load(kubeconfig)) as client:
        # What a process has once and not for each Pod: imports, the connection, decoders.
        await client.list(PODS, "default")
        before = _now()
        store: Store[shapes.Pod] = Store(indexes={"owner": _owners, "uid": _uid})
        listing = await client.list(PODS, namespace)
        store.replace(listing.items, listing.resource_version)
        del listing
        return _difference(before, len(store))


def _stock(listing: bytes) -> dict[str, float]:
    """Hold the Pods as the official client's models."""
    from kubernetes.client import ApiClient

    client = ApiClient()
    document = json.loads(listing)
    few = json.dumps({**document, "items": document["items"][:_FEW]})
    del document
    client.deserialize(few, "V1PodList", "application/json")
    text = listing.decode()
    before = _now()
    held: Any = client.deserialize(text, "V1PodList", "application/json")
    return _difference(before, len(held.items))


def _owners(pod: shapes.Pod) -> Iterable[str]:
    return [each.uid for each in pod.metadata.owner_references if each.controller]


def _uid(pod: shapes.Pod) -> Iterable[str]:
    return (pod.metadata.uid,)


def _difference(before: tuple[float, float], pods: int) -> dict[str, float]:
    after = _now()
    return {"pods": pods, "rss": after[0] - before[0], "traced": after[1] - before[1]}


def _now() -> tuple[float, float]:
    """Resident and traced memory in MiB, after everything that can be given back was."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    traced = tracemalloc.get_traced_memory()[0] if tracemalloc.is_tracing() else 0
    return psutil.Process().memory_info().rss / _MIB, traced / _MIB


if __name__ == "__main__":
    main()
