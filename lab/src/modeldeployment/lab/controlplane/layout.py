"""The files of one control plane, all under its state directory."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from modeldeployment.lab.controlplane.options import Component
from modeldeployment.lab.errors import StateUnusable

_DATA: Final = ("etcd", "pki", "kubeconfigs", "configuration", "kueue-certificates")
_SPACE: Final = 200 << 20
_LOGS: Final = "logs"
_RECORD: Final = "state.json"


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths under `root`; nothing touches the disk except `claim`, `wipe` and `forget`."""

    root: Path

    @property
    def record(self) -> Path:
        """What the supervisor says about itself."""
        return self.root / _RECORD

    @property
    def lock(self) -> Path:
        """Held by the supervisor for as long as it lives; its file marks the directory as ours."""
        return self.root / "supervisor.lock"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig, certificates embedded."""
        return self.root / "kubeconfig"

    @property
    def etcd(self) -> Path:
        """The database."""
        return self.root / "etcd"

    @property
    def pki(self) -> Path:
        """Certificates and keys."""
        return self.root / "pki"

    @property
    def kueue_certificates(self) -> Path:
        """The folder with tls.crt and tls.key for Kueue's webhooks and metrics."""
        return self.root / "kueue-certificates"

    def certificate(self, name: str) -> Path:
        """Return the path of a certificate."""
        return self.pki / f"{name}.crt"

    def key(self, name: str) -> Path:
        """Return the path of a private key."""
        return self.pki / f"{name}.key"

    def component_kubeconfig(self, component: Component) -> Path:
        """Return the kubeconfig one program uses."""
        return self.root / "kubeconfigs" / component

    def configuration(self, name: str) -> Path:
        """Return the path of a program's configuration file."""
        return self.root / "configuration" / name

    def log(self, name: str) -> Path:
        """Return the log of a component."""
        return self.root / _LOGS / f"{name}.log"

    @property
    def supervisor_log(self) -> Path:
        """What the supervisor itself prints; empty when all is well."""
        return self.root / "supervisor.log"

    def claim(self) -> None:
        """Create the directory, or take it over from an earlier run.

        Raises StateUnusable when it holds files that are not a control plane's, or cannot be written.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            foreign = sorted(entry.name for entry in self.root.iterdir())
            if foreign and self.lock.name not in foreign:
                raise StateUnusable(
                    f"state directory {self.root} holds other files ({', '.join(foreign[:3])}); "
                    "choose an empty or new directory"
                )
            if (free := shutil.disk_usage(self.root).free) < _SPACE:
                raise StateUnusable(
                    f"state directory {self.root} is on a disk with {free >> 20} MiB left and a control plane needs "
                    f"{_SPACE >> 20} MiB; free some space or choose another directory with --state"
                )
            self.lock.touch()
            self.root.chmod(0o700)
        except OSError as error:
            raise StateUnusable(
                f"state directory {self.root} cannot be used ({error.strerror}); choose another one with --state"
            ) from error

    def wipe(self) -> None:
        """Remove an earlier run's data and logs; only what this layout names."""
        self.forget()
        shutil.rmtree(self.root / _LOGS, ignore_errors=True)
        for folder in (*_DATA, _LOGS):
            (self.root / folder).mkdir(mode=0o700)

    def forget(self) -> None:
        """Remove the data of a stopped run; logs and the record stay for `logs` and `status`."""
        for folder in _DATA:
            shutil.rmtree(self.root / folder, ignore_errors=True)
        self.kubeconfig.unlink(missing_ok=True)
