"""What the tests of `kubectl md render` and `explain-render` share: deployments, and what they render to."""

from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from modeldeployment.admission.examples import CLUSTER, changed
from modeldeployment.api import InstanceType, ModelDeployment
from modeldeployment.render import Facts, Rendering, Store, render
from people_worlds import DOCUMENTS, Said, cluster, run, written

Capture = pytest.CaptureFixture[str]

IMAGE = {"spec.engine.image": "registry/runner:1"}
PLAIN = {**IMAGE, "spec.kvCache": None}


def rendered(capsys: Capture, tmp_path: Path, body: Any, *arguments: str | Path) -> Said:
    """Render one object, or one file of objects, with the examples' cluster as facts."""
    file = body if isinstance(body, Path) else written(tmp_path / "md.yaml", body)
    return run(capsys, "render", "-f", file, "--facts", cluster(tmp_path / "facts.yaml"), *arguments)


def expected(body: dict[str, Any], **known: Any) -> Rendering:
    """The rendering of an object as the API server holds it: its uid is empty where it has none."""
    whole = changed(body, {"metadata.uid": body["metadata"].get("uid", "")})
    types = {
        each["metadata"]["name"]: InstanceType.model_validate(each)
        for each in CLUSTER
        if each["kind"] == "InstanceType"
    }
    return render(ModelDeployment.model_validate(whole), Facts(types, **known))


def pair(router: str | None, engine: str = "vLLM", *, cache: bool = False, **fields: Any) -> dict[str, Any]:
    """The complete example of document 2 with an image, one of the routers, and fields of both roles."""
    body: dict[str, Any] = yaml.safe_load((DOCUMENTS / "2-pair.yaml").read_text(encoding="utf-8"))
    body["spec"]["engine"] = {"name": engine, "image": "registry/runner:1"}
    body["spec"]["router"] = {"name": router} if router else None
    body["spec"]["kvCache"] = {"poolRef": {"name": "shared-kv"}} if cache else None
    for role in body["spec"]["roles"]:
        role.update(instanceType="h20-8x", **fields)
    return changed(body, {})


READY = [
    {
        "phase": "Ready",
        "conditions": [
            {
                "type": "QuotaGranted",
                "status": "True",
                "reason": "Granted",
                "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }
        ],
    },
    {"phase": "Ready", "clientEndpoint": "shared-kv.gpustack-system.svc:50051"},
]


def ready_cache(path: Path) -> Path:
    """A binding and a pool that are ready."""
    chain = [each for each in CLUSTER if each["kind"] in ("KVCachePoolBinding", "KVCachePool")]
    backend = [each for each in CLUSTER if each["kind"] == "KVCacheBackend"]
    return written(path, *(each | {"status": status} for each, status in zip(chain, READY, strict=True)), *backend)


MATRIX = [
    pytest.param(pair("llm-d-router"), id="llm-d-vllm"),
    pytest.param(pair("llm-d-router", "SGLang"), id="llm-d-sglang"),
    pytest.param(pair("vllm-router"), id="vllm-router"),
    pytest.param(pair("sglang-gateway", "SGLang"), id="sglang-gateway"),
    pytest.param(pair(None), id="no-router"),
    pytest.param(pair("vllm-router", size=2), id="of-several-members"),
    pytest.param(pair("llm-d-router", cache=True, replicas=1), id="cache"),
    pytest.param(pair("llm-d-router", env=[{"name": "A", "value": "ä\u2028\U0001f600"}]), id="text-beyond-ascii"),
]

STORE: Final = Store("shared-kv.gpustack-system.svc:50051", ("tcp",), "team-a", "bfloat16", 128)
"""What the chain of `ready_cache` leads to."""
