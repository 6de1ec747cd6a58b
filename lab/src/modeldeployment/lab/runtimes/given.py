"""A cluster that is already there, by its kubeconfig: looked at, never started or stopped."""

from dataclasses import dataclass
from pathlib import Path

from modeldeployment.kube import Client, KubeError, load
from modeldeployment.lab.flavors.installing import require_kueue
from modeldeployment.lab.fleets.errors import KueueAbsent

from .runtime import ClusterUnfit, RuntimeStatus


@dataclass(frozen=True, slots=True)
class Given:
    """The cluster a kubeconfig leads to."""

    kubeconfig: Path

    @property
    def name(self) -> str:
        """The word for it on the command line."""
        return "kubeconfig"

    async def up(self) -> Path:
        """Return the kubeconfig if the cluster answers and serves Kueue's kinds; raises ClusterUnfit if not."""
        try:
            await self._look()
        except (KubeError, KueueAbsent) as error:
            raise ClusterUnfit(f"the cluster of {self.kubeconfig} cannot be used: {error}") from error
        return self.kubeconfig

    async def down(self) -> None:
        """Leave the cluster alone: somebody else started it."""

    async def status(self) -> RuntimeStatus:
        """Say whether the cluster answers and serves Kueue's kinds."""
        try:
            await self._look()
        except (KubeError, KueueAbsent) as error:
            return RuntimeStatus(running=False, message=str(error))
        return RuntimeStatus(running=True, message=f"the cluster of {self.kubeconfig} answers and has Kueue")

    async def _look(self) -> None:
        async with Client(load(self.kubeconfig)) as client:
            await require_kueue(client)
