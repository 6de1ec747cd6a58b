"""From the rendered containers of `llm-d-router` to the command lines that run here: pure.

Each container runs as it is but for the executable and the folder where its files lie; the routing proxy beside a
decoder also leaves its port to whoever leads there. Source: facts router-rendering §4, rendering §8.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from modeldeployment.lab.routers import older
from modeldeployment.lab.routers.errors import CommandUnknown
from modeldeployment.lab.toolchain.picker import Picker

JSON = Mapping[str, Any]

PROXY: Final = "envoy"
PICKER: Final = "epp"
SIDECAR: Final = "routing-proxy"
"""How the containers of the proxy, the picker, and the routing proxy beside a decoder are called."""
SIDECAR_PORT: Final = 18_000
"""Where a routing proxy listens in a network of its own, in which its rendered port is that of the prefill halves."""
_ALONE: Final = ("--disable-hot-restart", "--concurrency", "1", "--log-level", "warning")
"""So that several proxies on one machine do not take each other for a predecessor, and write little."""
_VARIABLE: Final = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
_DOCUMENT: Final = "epp.yaml"
SELECTOR: Final = "endpoint-selector"
"""Where the data of a ConfigMap says which Pods are picked from."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a container runs: its Pod's name, namespace and address, and the folder of its configuration."""

    pod: str
    namespace: str
    address: str
    folder: Path


def documents(data: Mapping[str, str], picker: Picker) -> dict[str, str]:
    """Answer the files of a ConfigMap as a picker of this version is given them."""
    return {name: older.document(text) if name == _DOCUMENT and picker.pinned else text for name, text in data.items()}


def variables(container: JSON, placed: Placed, data: Mapping[str, str]) -> dict[str, str]:
    """Answer the environment of a container, with the data of its ConfigMap. Raises CommandUnknown."""
    return {each["name"]: _value(each, placed, data) for each in container.get("env", ())}


def picker_command(container: JSON, placed: Placed, data: Mapping[str, str], picker: Picker, pool: str) -> list[str]:
    """Answer the words that run the picker; the pinned one is told of a pool. Raises CommandUnknown."""
    given = variables(container, placed, data)
    words = [_expanded(word, given) for word in _words(container, placed)]
    if picker.pinned:
        words = older.of_a_pool(words, placed.namespace, pool)
    return [str(picker.program), *words, "--tracing=false"]


def proxy_command(container: JSON, placed: Placed, program: Path) -> list[str]:
    """Answer the words that run the proxy. Raises CommandUnknown."""
    return [str(program), *_words(container, placed), *_ALONE]


def sidecar_command(container: JSON, picker: Picker) -> list[str]:
    """Answer the words that run the routing proxy beside a decoder. Raises CommandUnknown."""
    if picker.sidecar is None:
        raise CommandUnknown("no routing proxy is at hand; name one of the picker's version")
    given = list(container.get("args", ()))
    ports = [word for word in given if word.startswith("--port=")]
    if len(ports) != 1:
        raise CommandUnknown(f"argument --port=… is given {len(ports)} times; the lab replaces exactly one")
    words = [f"--port={SIDECAR_PORT}" if word in ports else word for word in given]
    return [str(picker.sidecar), *(older.arguments(words) if picker.pinned else words)]


def port(container: JSON, name: str) -> int:
    """Answer the number of a named port of a container. Raises CommandUnknown."""
    for each in container.get("ports", ()):
        if each.get("name") == name:
            return int(each["containerPort"])
    raise CommandUnknown(f"container {container.get('name')!r} has no port {name!r}")


def target_ports(data: Mapping[str, str]) -> tuple[int, ...]:
    """Answer the ports of the members that a picker picks from."""
    return tuple(int(number) for number in data["endpoint-target-ports"].split(","))


def _words(container: JSON, placed: Placed) -> Sequence[str]:
    """Answer the arguments, with the folder in the place of where it is mounted."""
    mounted = [f"{each['mountPath']}/" for each in container.get("volumeMounts", ())]
    words = list(container.get("args", ()))
    for path in mounted:
        words = [word.replace(path, f"{placed.folder}/") for word in words]
    return words


def _expanded(word: str, given: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: given.get(found[1], found[0]), word)


def _value(variable: JSON, placed: Placed, data: Mapping[str, str]) -> str:
    match variable:
        case {"value": value}:
            return str(value)
        case {"valueFrom": {"configMapKeyRef": {"key": key}}}:
            return data[key]
        case {"valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}:
            return placed.namespace
        case {"valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}:
            return placed.pod
        case {"valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}:
            return placed.address
        case _:
            raise CommandUnknown(f"variable {dict(variable)} is none that the lab can give a container")
