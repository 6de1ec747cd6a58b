"""Deployments behind `llm-d-router` that are really served: the proxy and the picker are the programs themselves."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
from e2e_board import PATIENCE
from e2e_retiring import load, routed
from e2e_worlds import JSON, World
from modeldeployment.lab.errors import GoMissing, GoTooOld, ModulesUnreachable
from modeldeployment.lab.networks import lonely
from modeldeployment.lab.pytest_plugin import ObtainProgram
from modeldeployment.lab.routers import picker_image
from modeldeployment.lab.serving import Serving
from modeldeployment.lab.toolchain.picker import Picker, ensure_picker

ENGINES: Final = pytest.mark.parametrize("engine", ["vLLM", "SGLang"])
_VERSIONS: Final = {"vLLM": "0.29.0", "SGLang": "0.5.9"}


@pytest.fixture(scope="session")
def picker() -> Picker:
    """The picker and its routing proxy; built on first use, which takes minutes."""
    if why := lonely():
        pytest.skip(why)
    try:
        return ensure_picker(os.environ, lambda _: None)
    except (GoMissing, GoTooOld, ModulesUnreachable) as missing:
        pytest.skip(f"no picker to route with: {missing}")


@pytest.fixture
async def picked(world: World, program: ObtainProgram, picker: Picker, tmp_path: Path) -> AsyncIterator[Serving]:
    """Return what plays the Pods of the world's namespace, those of `llm-d-router` too."""
    program("envoy")  # which skips where it cannot be had
    plane, namespace = world.control_plane, world.namespace
    async with Serving(world.client, plane, namespace, tmp_path, program, picker=lambda: picker) as started:
        yield started


def servers(world: World, picker: Picker, engine: str, name: str = "chat", **role: Any) -> JSON:
    """A deployment of one Server role behind the picker; `role` are fields of the role."""
    manifest = world.manifest(name, **role)
    manifest["spec"]["engine"] = {"name": engine, "version": _VERSIONS[engine]}
    manifest["spec"]["router"] = {"name": "llm-d-router", "image": picker_image(picker)}
    return manifest


def halves(world: World, picker: Picker, engine: str, name: str = "chat", **role: Any) -> JSON:
    """A pair behind the picker; `role` are fields of both halves."""
    manifest = servers(world, picker, engine, name)
    manifest["spec"]["roles"] = [world.role(kind.lower(), kind=kind, **role) for kind in ("Prefill", "Decode")]
    return manifest


async def picks(world: World, serving: Serving, name: str = "chat") -> str:
    """Wait until a deployment is settled and its picker picks; return where it takes requests."""
    url = await routed(world, serving, name)
    await answers(url)
    return url


async def answers(url: str) -> None:
    """Wait until a picker answers: it is ready before it knows a Pod, and refuses what is asked until then."""
    async with asyncio.timeout(PATIENCE):
        while (await load(url, rate=100, seconds=60, count=1)).unanswered:  # noqa: ASYNC110 -- a program is polled
            await asyncio.sleep(0.2)
