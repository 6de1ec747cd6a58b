"""pytest's hooks: the run's control plane ends with the run, and a failing test shows its namespace."""

import asyncio
import os
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest

from modeldeployment.kube import Client, KubeError, load
from modeldeployment.kube.kinds import EVENTS, WORKLOADS
from modeldeployment.lab.controlplane import ControlPlane

from . import sharing
from .picture import TOLD_PODS, picture

_PICTURE_SECONDS: Final = 20.0


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist which process the run is."""
    node.workerinput[sharing.CONTROLLER] = os.getpid()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Learn from a worker of pytest-xdist where it found or started the run's control plane."""
    folder = getattr(node, "workeroutput", {}).get(sharing.FOLDER)
    if folder:
        node.config.stash[sharing.STARTED] = Path(folder)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop the run's control plane, in the process that is the run."""
    sharing.finish(session.config)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to a failure what was in the test's namespace."""
    report = yield
    fixtures: dict[str, Any] = getattr(item, "funcargs", {})
    if report.failed and report.when != "teardown" and "namespace" in fixtures and "control_plane" in fixtures:
        namespace = fixtures["namespace"]
        report.sections.append((f"namespace {namespace}", _picture(fixtures["control_plane"], namespace)))
    return report


def _picture(control_plane: ControlPlane, namespace: str) -> str:
    # In a thread: the test's own event loop stays as it is until its fixtures are torn down.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _read(control_plane, namespace)).result()


async def _read(control_plane: ControlPlane, namespace: str) -> str:
    try:
        async with asyncio.timeout(_PICTURE_SECONDS), Client(load(control_plane.kubeconfig)) as client:
            pods = (await client.list(TOLD_PODS, namespace)).items
            workloads = (await client.list(WORKLOADS, namespace)).items
            events = (await client.list(EVENTS, namespace)).items
    except (KubeError, TimeoutError) as error:
        return f"could not be read: {error}"
    logs = sorted(control_plane.log("kueue").parent.glob("*.log"))
    return picture(pods, workloads, events, logs, namespace)
