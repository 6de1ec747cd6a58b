"""The router documents of whole deployments, rendered as the operator renders them, and the programs that read them."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.lab.networks import ALONE
from modeldeployment.lab.toolchain.picker import Picker
from modeldeployment.render import render
from modeldeployment.router import RouterRendering
from render_worlds import deployment, facts, joined, role

ROUTERS: Final[tuple[tuple[str, str], ...]] = (
    ("llm-d-router", "vLLM"),
    ("llm-d-router", "SGLang"),
    ("vllm-router", "vLLM"),
    ("sglang-gateway", "SGLang"),
)
SHAPES: Final[Mapping[str, tuple[str, ...]]] = {
    "server": ("Server",),
    "pair": ("Prefill", "Decode"),
    "encode": ("Prefill", "Decode", "Encode"),
}
ACCEPTED: Final = "loaded configuration from file/text successfully"
"""What the picker says once every plugin of its document is made; only then does it look for an API server."""


def routed(engine: str, shape: str, *, router: str = "llm-d-router", **fields: Any) -> ModelDeployment:
    """A deployment of that shape behind a router; `fields` are those of `spec.router`."""
    roles = [role(kind.lower(), kind=kind) for kind in SHAPES[shape]]
    spec = joined(router=router)
    spec["router"] |= fields
    return deployment(*roles, engine=engine, spec=spec)


def router_of(declared: ModelDeployment) -> RouterRendering:
    rendered = render(declared, facts()).router
    assert isinstance(rendered, RouterRendering)
    return rendered


def documents(engine: str, shape: str, **fields: Any) -> dict[str, str]:
    """The data of the ConfigMap."""
    (config,) = (each for each in router_of(routed(engine, shape, **fields)).objects if each["kind"] == "ConfigMap")
    data: dict[str, str] = config["data"]
    return data


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the picker made of a document: whether it took it, and the lines it wrote."""

    accepted: bool
    lines: tuple[dict[str, Any], ...]

    @property
    def errors(self) -> str:
        return "\n".join(str(line.get("error", line.get("msg"))) for line in self.lines if line.get("level") == "error")


def shown_to(picker: Picker, document: str, selector: str, folder: Path) -> Verdict:
    """Start the picker with a document and no API server: it reads it and ends.

    It has no flag for its addresses, so it runs in a network of its own.
    """
    file, kubeconfig = folder / "epp.yaml", folder / "kubeconfig.json"
    file.write_text(document, encoding="utf-8")
    kubeconfig.write_text(json.dumps(_nowhere()), encoding="utf-8")
    # The older program takes equalities alone, so it is told of a pool instead, which it never gets to look up.
    candidates = (
        ["--pool-name=qwen", "--pool-namespace=team-a"]
        if picker.pinned
        else [f"--endpoint-selector={selector}", "--endpoint-target-ports=8000"]
    )
    arguments = ["--secure-serving=false", "--grpc-health-port=9003", "--metrics-endpoint-auth=false"]
    done = subprocess.run(
        [*ALONE, str(picker.program), *candidates, f"--config-file={file}", *arguments, "--tracing=false"],
        env={"KUBECONFIG": str(kubeconfig), "NAMESPACE": "team-a", "POD_NAME": "qwen-router-5d9c7b6f4-x2x4z"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    lines = tuple(json.loads(line) for line in (done.stdout + done.stderr).splitlines() if line.startswith("{"))
    return Verdict(any(line.get("msg") == ACCEPTED for line in lines), lines)


def environment() -> Mapping[str, str]:
    return os.environ


def _nowhere() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "none",
        "contexts": [{"name": "none", "context": {"cluster": "none", "user": "none"}}],
        "clusters": [{"name": "none", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "none", "user": {}}],
    }


def replaced(text: str, old: str, new: str) -> str:
    """The text with every `old` replaced; there must be one."""
    assert old in text
    return text.replace(old, new)
