"""What vLLM and its plugin for Ascend say about connectors in their own source, read without importing it.

`data/connectors.json` keeps what was read, so that documents are compared where the packages are not installed; where
they are, it is read again. UPDATE_GOLDEN=1 writes it.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from modeldeployment.lab.packaged import Program

KEPT: Final = Path(__file__).parent / "conformance" / "data" / "connectors.json"
FACTORIES: Final = {
    "vllm": (
        "vllm/distributed/kv_transfer/kv_connector/factory.py",
        "vllm/distributed/ec_transfer/ec_connector/factory.py",
    ),
    "vllm-ascend": ("vllm_ascend/distributed/kv_transfer/__init__.py",),
}
CONFIGURATIONS: Final = {
    "vllm": {
        "KVTransferConfig": "vllm/config/kv_transfer.py",
        "KVEventsConfig": "vllm/config/kv_events.py",
        "ECTransferConfig": "vllm/config/ec_transfer.py",
    },
    "vllm-ascend": {},
}
CLIENTS: Final = {
    "vllm": "vllm/distributed/mooncake_store.py",
    "vllm-ascend": "vllm_ascend/distributed/kv_transfer/kv_pool/ascend_store/backend/mooncake_backend.py",
}
RENDERED: Final = {
    "vllm": ("ECCPUConnector", "MooncakeConnector", "MooncakeStoreConnector", "MultiConnector", "NixlConnector"),
    "vllm-ascend": ("AscendStoreConnector", "MooncakeConnectorV1", "MultiConnector"),
}
"""The connectors that rendering names; of these the keys are read."""


def read(program: Program) -> dict[str, Any]:
    """Read a package: its version, connectors by name, their keys, the configurations' fields, the client's keys."""
    packages = program.packages
    connectors = {
        name: module for factory in FACTORIES[program.name] for name, module in _registered(packages / factory)
    }
    return {
        "version": program.version,
        "connectors": dict(sorted(connectors.items())),
        "keys": {name: sorted(set(_keys(_sources(packages, connectors[name])))) for name in RENDERED[program.name]},
        "configurations": {name: _fields(packages / file, name) for name, file in CONFIGURATIONS[program.name].items()},
        "client": sorted(set(_keys([packages / CLIENTS[program.name]]))),
    }


def kept() -> dict[str, Any]:
    """Return what was read of both packages."""
    found: dict[str, Any] = json.loads(KEPT.read_text())
    return found


def fits(value: Any, annotation: str) -> bool:
    """Whether a JSON value is of an annotated type; a role is one of a few words."""
    words = {"str", "KVRole", "ECRole", "Literal"} if isinstance(value, str) else {type(value).__name__}
    return bool(words & set(re.findall(r"\w+", annotation)))


def _registered(factory: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(factory.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            names = [str(each.value) for each in node.args if isinstance(each, ast.Constant)]
            if node.func.attr == "register_connector" and len(names) == 3:
                yield names[0], names[1]


def _sources(packages: Path, module: str) -> list[Path]:
    """List a connector's own files: its module, and what is beside it where it has a folder to itself."""
    path = packages.joinpath(*module.split("."))
    if path.is_dir():
        return sorted(path.rglob("*.py"))
    alone = path.with_suffix(".py")
    shared = path.parent.name in ("v1", "kv_transfer", "kv_p2p", "ec_connector", "mooncake")
    return [alone] if shared else sorted(path.parent.rglob("*.py"))


def _keys(sources: list[Path]) -> Iterator[str]:
    """Yield every text that is looked up in something called a configuration."""
    for node in (node for source in sources for node in ast.walk(ast.parse(source.read_text()))):
        match node:
            case ast.Call(func=ast.Attribute(attr="get_from_extra_config"), args=[ast.Constant(value=str(key)), *_]):
                yield key
            case ast.Call(func=ast.Attribute(value=where, attr="get"), args=[ast.Constant(value=str(key)), *_]) if (
                "config" in ast.unparse(where)
            ):
                yield key
            case ast.Subscript(value=where, slice=ast.Constant(value=str(key))) if "config" in ast.unparse(where):
                yield key
            case _:
                pass


def _fields(file: Path, name: str) -> dict[str, str]:
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return {
                each.target.id: ast.unparse(each.annotation)
                for each in node.body
                if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
            }
    raise LookupError(f"{file} has no {name}")
