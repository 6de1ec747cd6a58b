"""A cluster made by kind in a container engine, with Kueue and kwok from their manifests (facts kwok §11).

It proves manifests and webhooks unmodified, not scale.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from .commands import run
from .kwokctl import listed
from .runtime import RuntimeStatus

PROGRAM: Final = "kind"
NODE_IMAGE: Final = "kindest/node:v1.36.1"


def configuration() -> dict[str, Any]:
    """Return kind's configuration: one control plane on loopback, whose own node takes no lab Pods' devices."""
    return {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "networking": {"apiServerAddress": "127.0.0.1"},
        "nodes": [{"role": "control-plane"}],
    }


def create_argv(name: str, config: Path, kubeconfig: Path) -> tuple[str, ...]:
    """Return the command that creates a cluster from a configuration file."""
    return (
        PROGRAM,
        "create",
        "cluster",
        f"--name={name}",
        f"--image={NODE_IMAGE}",
        f"--config={config}",
        f"--kubeconfig={kubeconfig}",
        "--wait=180s",
    )


def delete_argv(name: str, kubeconfig: Path) -> tuple[str, ...]:
    """Return the command that deletes the cluster and its entry in the kubeconfig."""
    return (PROGRAM, "delete", "cluster", f"--name={name}", f"--kubeconfig={kubeconfig}")


def list_argv() -> tuple[str, ...]:
    """Return the command that prints one cluster's name a line."""
    return (PROGRAM, "get", "clusters")


def apply_argv(kubeconfig: Path, manifest: str) -> tuple[str, ...]:
    """Return the command that applies a manifest, a path or an address, by the server's own merge."""
    return (
        "kubectl",
        f"--kubeconfig={kubeconfig}",
        "apply",
        "--server-side",
        "--force-conflicts",
        f"--filename={manifest}",
    )


def wait_argv(kubeconfig: Path, namespace: str) -> tuple[str, ...]:
    """Return the command that waits until every Deployment of a namespace is available."""
    return (
        "kubectl",
        f"--kubeconfig={kubeconfig}",
        f"--namespace={namespace}",
        "wait",
        "deployment",
        "--all",
        "--for=condition=Available",
        "--timeout=300s",
    )


@dataclass(frozen=True, slots=True)
class Kind:
    """A cluster of that name by kind; `manifests` bring Kueue, its configuration and kwok, in that order."""

    cluster: str
    state: Path
    manifests: tuple[str, ...]

    @property
    def name(self) -> str:
        """The word for it on the command line."""
        return "kind"

    async def up(self) -> Path:
        """Create the cluster unless it is there, then apply the manifests; raises ProgramAbsent and CommandFailed."""
        kubeconfig = self.state / "kubeconfig"
        if not (await self.status()).running:
            self.state.mkdir(parents=True, exist_ok=True)
            config = self.state / "kind.yaml"
            config.write_text(yaml.safe_dump(configuration(), sort_keys=False))
            await run(create_argv(self.cluster, config, kubeconfig))
        for manifest in self.manifests:
            await run(apply_argv(kubeconfig, manifest))
        if self.manifests:
            await run(wait_argv(kubeconfig, "kueue-system"))
        return kubeconfig

    async def down(self) -> None:
        """Delete the cluster; raises ProgramAbsent and CommandFailed."""
        await run(delete_argv(self.cluster, self.state / "kubeconfig"))

    async def status(self) -> RuntimeStatus:
        """Say whether kind lists the cluster."""
        return await listed(list_argv(), self.cluster)
