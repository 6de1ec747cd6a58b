"""Which runtime a name stands for, and which can be used here."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from . import kind, kwokctl
from .given import Given
from .kind import Kind
from .kwokctl import Kwokctl
from .processes import Processes
from .runtime import Availability, ProgramAbsent, Runtime, RuntimeUnknown, Skipped, Usable, Which, engine_found, needs

PROCESSES: Final = "processes"
KUBECONFIG: Final = "kubeconfig"
NAMES: Final = (PROCESSES, KUBECONFIG, "kwokctl", "kind")


def availability(name: str, which: Which = shutil.which) -> Availability:
    """Say whether a runtime can be used here, and if not why; raises RuntimeUnknown."""
    match name:
        case "processes" | "kubeconfig":
            return Usable()
        case "kwokctl":
            return needs(name, kwokctl.PROGRAM, which)
        case "kind":
            return needs(name, kind.PROGRAM, which)
        case other:
            raise RuntimeUnknown(f"runtime {other!r} is unknown; the runtimes are {', '.join(NAMES)}")


def runtime_named(
    name: str,
    *,
    processes: Callable[[], Processes],
    cluster: str,
    state: Path,
    kubeconfig: Path | None = None,
    manifests: tuple[str, ...] = (),
    stages: Path | None = None,
    which: Which = shutil.which,
) -> Runtime:
    """Return the runtime of that name: one of processes, kubeconfig, kwokctl and kind.

    The command line gives all it has: `processes` makes the lab's own control plane with its options, `cluster` is
    the lab's name, `state` the folder for files of a runtime that is not the lab's own, `kubeconfig` the cluster
    that is already there, `manifests` what kind applies (Kueue, its configuration, kwok), `stages` a kwok
    configuration for kwokctl. Raises RuntimeUnknown and, where its programs are missing, ProgramAbsent.
    """
    match availability(name, which):
        case Skipped(reason=reason):
            raise ProgramAbsent(reason)
        case Usable():
            pass
    match name:
        case "processes":
            return processes()
        case "kubeconfig":
            if kubeconfig is None:
                raise RuntimeUnknown("runtime 'kubeconfig' needs --kubeconfig FILE, the cluster to use")
            return Given(kubeconfig)
        case "kwokctl":
            return Kwokctl(cluster, engine_found(which) or "docker", state / "kubeconfig", stages)
        case _:
            return Kind(cluster, state, manifests)
