"""Run by Mooncake's own Python: a store client set up by an engine's own reader of what was rendered.

`python conformance_client.py vllm|sglang PACKAGES` with the engine's packages. vLLM's reader takes the document that
MOONCAKE_CONFIG_PATH names, SGLang's the environment; the store is the real one. Standard input holds a JSON list of
pairs: a key, and the text to put or null to get. Standard output: what was read, then for each pair the code or text.
"""

import dataclasses
import importlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

from conformance_parser import STOOD_IN_FOR, Finder

BESIDE = (
    "sglang.srt.mem_cache.hicache_storage",
    "sglang.srt.mem_cache.hybrid_cache",
    "sglang.srt.mem_cache.pool_host",
    "sglang.srt.observability.metrics_collector",
)
"""What SGLang's reader imports beside itself and a client of the store does not use."""


def vllm(store: Any, packages: Path) -> Any:
    """Read the document and set up the store as vLLM's connector does, in the code it does it with."""
    name = "mooncake_store"
    spec = importlib.util.spec_from_file_location(name, packages / "vllm" / "distributed" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    read = module.MooncakeStoreConfig.load_from_config()
    module.setup_mooncake_store(store, read, os.environ["LOCAL"])
    return read


def sglang(store: Any, _packages: Path) -> Any:
    """Read the environment and set up the store with the arguments SGLang gives it."""
    os.environ["SGLANG_USE_CPU_ENGINE"] = "1"
    sys.meta_path.insert(0, Finder((*STOOD_IN_FOR["sglang"], *BESIDE)))
    module: Any = importlib.import_module("sglang.srt.mem_cache.storage.mooncake_store.mooncake_store")
    read = module.MooncakeStoreConfig.load_from_env()
    code = store.setup(
        read.local_hostname,
        read.metadata_server,
        read.global_segment_size,
        module.DEFAULT_LOCAL_BUFFER_SIZE,
        read.protocol,
        read.device_name,
        read.master_server_address,
        tenant_id=read.tenant_id,
    )
    assert code == 0, f"setup answered {code}"
    return read


def main() -> None:
    """Set up a client, do what is asked, close it."""
    engine, packages = sys.argv[1], Path(sys.argv[2])
    sys.path.append(str(packages))
    answers, sys.stdout = sys.stdout, sys.stderr
    store: Any = importlib.import_module("mooncake.store").MooncakeDistributedStore()
    read = {"vllm": vllm, "sglang": sglang}[engine](store, packages)
    results: list[Any] = []
    for key, text in json.load(sys.stdin):
        results.append(store.put(key, text.encode()) if text is not None else store.get(key).decode())
    store.close()
    print(json.dumps({"read": dataclasses.asdict(read), "results": results}), file=answers)


if __name__ == "__main__":
    main()
