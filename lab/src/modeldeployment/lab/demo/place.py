"""Where the demo is given: on a control plane of its own, or on a cluster it is given."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from modeldeployment.lab import controlplane
from modeldeployment.lab.controlplane import ControlPlane
from modeldeployment.lab.controlplane.layout import Layout
from modeldeployment.lab.controlplane.options import Options, state_folder
from modeldeployment.lab.demo.errors import DemoRefused
from modeldeployment.lab.errors import AlreadyUp
from modeldeployment.lab.runtimes.given import Given
from modeldeployment.lab.toolchain import Toolchain

OPERATOR_LOG = "operator"
KUBECTL = "kubectl"


@dataclass(frozen=True, slots=True)
class Place:
    """A cluster that answers; `lifeline` is the process whose end ends the operator.

    `plane` is the control plane of the demo's own; a cluster that is borrowed, and left as it was found, has none.
    `end` is the command that ends what is kept.
    """

    kubeconfig: Path
    kubectl: Path
    log: Path
    lifeline: int
    plane: ControlPlane | None
    end: str

    @property
    def borrowed(self) -> bool:
        """Whether the cluster is somebody else's."""
        return self.plane is None


@contextmanager
def own(name: str, state: Path | None, programs: Callable[[], Toolchain], *, keep: bool) -> Iterator[Place]:
    """Start a control plane and end it afterwards; with `keep` only where the story did not come to its end.

    Without `keep` it ends with this process whatever happens. Raises the toolchain's and the control plane's errors.
    """
    folder = state_folder(name, state)
    end = f"make lab-down NAME={name} (md-lab down --name {name})" if state is None else f"md-lab down --state {folder}"
    try:
        handle = controlplane.up(Options(name=name, state=folder, lifeline=None if keep else os.getpid()), programs())
    except AlreadyUp as error:
        raise DemoRefused(f"a demo is up already in {folder}; end it first: {end}") from error
    lifeline = controlplane.status(folder).supervisor if keep else os.getpid()
    finished = False
    try:
        yield Place(handle.kubeconfig, handle.bin / KUBECTL, handle.log(OPERATOR_LOG), lifeline, handle, end)
        finished = True
    finally:
        if not (keep and finished):
            controlplane.down(folder)


@contextmanager
def given(kubeconfig: Path, name: str, state: Path | None) -> Iterator[Place]:
    """Use the cluster of a kubeconfig; only the operator's log lies in the state directory. Raises ClusterUnfit."""
    asyncio.run(Given(kubeconfig).up())
    layout = Layout(state_folder(f"{name}-given", state))
    layout.claim()
    yield Place(kubeconfig, Path(KUBECTL), layout.log(OPERATOR_LOG), os.getpid(), plane=None, end="")
