"""A process of its own that fills one store from recorded bytes and says what that cost.

Run as `python -m modeldeployment.lab.bench.filling WHAT FILE`, WHAT being `ours` or `stock`, FILE the pages that
`split` wrote. Prints one JSON object: `pods`, and the difference in MiB of resident memory (`rss`) and, in a run with
`-X tracemalloc`, of traced allocations (`traced`).
"""

import ctypes
import gc
import json
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import psutil  # type: ignore[import-untyped]

_MIB: Final = 1 << 20
_PAGE: Final = 500


def main() -> None:
    """Fill what the command line names."""
    what, file = sys.argv[1], Path(sys.argv[2])
    fill: Callable[[Path], tuple[int, object]] = {"ours": _ours, "stock": _stock}[what]
    # The first filling pays for decoders and imports, which a process has once and not for each Pod.
    fill(_few(file))
    rss, traced = _now()
    pods, held = fill(file)
    rss_after, traced_after = _now()
    assert held is not None
    print(json.dumps({"pods": pods, "rss": rss_after - rss, "traced": traced_after - traced}))


def _ours(file: Path) -> tuple[int, object]:
    """Fill our store with the indexes the operator has, page by page as its client does."""
    import msgspec

    from modeldeployment.kube import Store, shapes

    class Page(msgspec.Struct):
        items: list[shapes.Pod]

    def owners(pod: shapes.Pod) -> Iterable[str]:
        return [each.uid for each in pod.metadata.owner_references if each.controller]

    def uid(pod: shapes.Pod) -> Iterable[str]:
        return (pod.metadata.uid,)

    store: Store[shapes.Pod] = Store(indexes={"owner": owners, "uid": uid})
    decoder = msgspec.json.Decoder(Page)
    for page in _pages(file):
        for pod in decoder.decode(page).items:
            store.put(pod)
    return len(store), store


def _stock(file: Path) -> tuple[int, object]:
    """Hold the same Pods as the official client's models."""
    from kubernetes.client import ApiClient

    client = ApiClient()
    held: list[Any] = []
    for page in _pages(file):
        held += client.deserialize(page.decode(), "V1PodList", "application/json").items
    return len(held), held


def _pages(file: Path) -> Iterator[bytes]:
    """Yield the pages of a list as bytes of their own, so that none of the whole text stays."""
    for number in range(len(list(file.parent.glob(f"{file.name}.*")))):
        yield (file.parent / f"{file.name}.{number}").read_bytes()


def split(listing: bytes, file: Path) -> int:
    """Cut a LIST into pages, FILE.0 and so on, and one of ten Pods, few-FILE.0; the answer is the number of Pods."""
    items = json.loads(listing)["items"]
    for item in items:
        item |= {"apiVersion": "v1", "kind": "Pod"}
    for number, start in enumerate(range(0, len(items), _PAGE)):
        _write(file.parent / f"{file.name}.{number}", items[start : start + _PAGE])
    _write(_few(file).with_name(f"{_few(file).name}.0"), items[:10])
    return len(items)


def _few(file: Path) -> Path:
    return file.with_name(f"few-{file.name}")


def _write(file: Path, items: list[Any]) -> None:
    page = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}
    file.write_bytes(json.dumps(page, separators=(",", ":")).encode())


def _now() -> tuple[float, float]:
    """Resident and traced memory in MiB, after everything that can be given back was."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    traced = tracemalloc.get_traced_memory()[0] if tracemalloc.is_tracing() else 0
    return psutil.Process().memory_info().rss / _MIB, traced / _MIB


if __name__ == "__main__":
    main()
