"""What a real API server makes of a router's objects: it knows every field, and changes nothing that was written."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from conformance_documents import ROUTERS, SHAPES, routed, router_of
from modeldeployment.lab.controlplane import ControlPlane

pytestmark = pytest.mark.lab

FULL: dict[str, Any] = {
    "replicas": 2,
    "imagePullSecrets": [{"name": "registry"}],
    "requestTimeoutSeconds": 120,
    "extraArgs": ["--zap-log-level=debug"],
}


@pytest.mark.parametrize(("router", "engine"), ROUTERS)
async def test_what_is_written_is_read_back_as_it_was(
    router: str, engine: str, control_plane: ControlPlane, namespace: str
) -> None:
    wanted = [
        {**each, "metadata": {**each["metadata"], "namespace": namespace}}
        for shape in SHAPES
        for fields in ({}, FULL)
        for each in router_of(routed(engine, shape, router=router, **fields)).objects
    ]
    kept = await _dry_run(control_plane, namespace, wanted)
    assert [each["kind"] for each in kept] == [each["kind"] for each in wanted]
    for want, have in zip(wanted, kept, strict=True):
        assert list(_differences(want, have, want["kind"])) == []


async def test_a_field_the_api_server_does_not_know_is_refused(control_plane: ControlPlane, namespace: str) -> None:
    *_, workload = router_of(routed("vLLM", "server")).objects
    workload = {**workload, "metadata": {**workload["metadata"], "namespace": namespace}}
    wrong = json.loads(json.dumps(workload).replace('"readinessProbe"', '"readynessProbe"'))
    with pytest.raises(AssertionError, match="readynessProbe"):
        await _dry_run(control_plane, namespace, [wrong])


async def _dry_run(control_plane: ControlPlane, namespace: str, objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Have the API server judge and default the objects without storing them; unknown fields are errors."""
    kubectl = await asyncio.create_subprocess_exec(
        str(control_plane.bin / "kubectl"),
        f"--kubeconfig={control_plane.kubeconfig}",
        f"--namespace={namespace}",
        *("create", "--dry-run=server", "--validate=strict", "--output=json", "--filename=-"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    bundle = {"apiVersion": "v1", "kind": "List", "items": objects}
    out, err = await kubectl.communicate(json.dumps(bundle).encode())
    assert kubectl.returncode == 0, err.decode()
    return list(_documents(out.decode()))


def _documents(text: str) -> Iterator[dict[str, Any]]:
    """Yield the documents that kubectl writes one after the other."""
    decoder = json.JSONDecoder()
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        yield document
        text = text[end:]


def _differences(want: Any, have: Any, where: str) -> Iterator[str]:
    """Yield every place where what was written is not what is there; what stands beside it is no difference."""
    if isinstance(want, Mapping) and isinstance(have, Mapping):
        for key, value in want.items():
            if key not in have:
                yield f"{where}.{key} is gone"
            else:
                yield from _differences(value, have[key], f"{where}.{key}")
    elif isinstance(want, list) and isinstance(have, list) and len(want) == len(have):
        for index, (one, other) in enumerate(zip(want, have, strict=True)):
            yield from _differences(one, other, f"{where}[{index}]")
    elif want != have:
        yield f"{where} is {have!r} and was written as {want!r}"
