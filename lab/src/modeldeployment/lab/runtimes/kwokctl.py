"""A cluster made by kwokctl in a container engine, Kueue included (facts kwok §7).

Under kwokctl's binary runtime it installs no Kueue, so only container engines are used.
"""

from dataclasses import dataclass
from pathlib import Path

from .commands import run
from .runtime import CommandFailed, ProgramAbsent, RuntimeStatus

PROGRAM = "kwokctl"


def create_argv(name: str, engine: str, kubeconfig: Path, stages: Path | None) -> tuple[str, ...]:
    """Return the command that creates a cluster; `stages` is a kwok configuration of the lab's own Stages."""
    argv = (
        PROGRAM,
        "create",
        "cluster",
        f"--name={name}",
        f"--runtime={engine}",
        "--enable=kueue",
        "--disable-qps-limits",
        f"--kubeconfig={kubeconfig}",
        "--wait=180s",
    )
    return argv if stages is None else (*argv, f"--config={stages}")


def delete_argv(name: str, kubeconfig: Path) -> tuple[str, ...]:
    """Return the command that deletes the cluster and its entry in the kubeconfig."""
    return (PROGRAM, "delete", "cluster", f"--name={name}", f"--kubeconfig={kubeconfig}")


def list_argv() -> tuple[str, ...]:
    """Return the command that prints one cluster's name a line."""
    return (PROGRAM, "get", "clusters")


@dataclass(frozen=True, slots=True)
class Kwokctl:
    """A cluster of that name by kwokctl; `engine` is docker, podman or nerdctl."""

    cluster: str
    engine: str
    kubeconfig: Path
    stages: Path | None = None

    @property
    def name(self) -> str:
        """The word for it on the command line."""
        return "kwokctl"

    async def up(self) -> Path:
        """Create the cluster unless it is there; raises ProgramAbsent and CommandFailed."""
        if not (await self.status()).running:
            await run(create_argv(self.cluster, self.engine, self.kubeconfig, self.stages))
        return self.kubeconfig

    async def down(self) -> None:
        """Delete the cluster; raises ProgramAbsent and CommandFailed."""
        await run(delete_argv(self.cluster, self.kubeconfig))

    async def status(self) -> RuntimeStatus:
        """Say whether kwokctl lists the cluster."""
        return await listed(list_argv(), self.cluster)


async def listed(argv: tuple[str, ...], cluster: str) -> RuntimeStatus:
    """Say whether a command that prints a cluster's name a line prints this one."""
    try:
        names = (await run(argv)).split()
    except (ProgramAbsent, CommandFailed) as error:
        return RuntimeStatus(running=False, message=str(error))
    if cluster in names:
        return RuntimeStatus(running=True, message=f"{argv[0]} lists cluster {cluster!r}")
    return RuntimeStatus(running=False, message=f"{argv[0]} lists no cluster {cluster!r}")
