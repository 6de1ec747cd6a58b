"""The database of a control plane, kept in the user's cache and put into another control plane."""

import hashlib
import json
import shutil
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import platformdirs

from modeldeployment.lab.controlplane import Component, ControlPlane
from modeldeployment.lab.controlplane.layout import Layout
from modeldeployment.lab.errors import ControlPlaneError

_DEFRAGMENT_SECONDS: Final = 120.0


def folder(name: str, made_of: Iterable[bytes]) -> Path:
    """Where a database is kept, by its name (no dashes) and the hash of the parts it was made of."""
    digest = hashlib.sha256()
    for part in made_of:
        digest.update(f"{len(part)}\n".encode())
        digest.update(part)
    return platformdirs.user_cache_path("modeldeployment") / "lab" / f"database-{name}-{digest.hexdigest()[:12]}"


def keep(plane: ControlPlane, place: Path) -> None:
    """End everything that writes and keep the database; those of its name made of other parts are removed, being large.

    The control plane is of no use afterwards. Raises ControlPlaneError.
    """
    plane.compact()
    _defragment(plane)
    plane.kill(Component.API_SERVER)
    plane.kill(Component.ETCD)
    partial = place.with_name(f"{place.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(Layout(plane.state).etcd, partial)
    for other in place.parent.glob(f"{place.name.rpartition('-')[0]}-*"):
        if other not in (place, partial):
            shutil.rmtree(other, ignore_errors=True)
    partial.replace(place)


def restore(plane: ControlPlane, place: Path) -> None:
    """Let a control plane that has just started go on with a kept database, etcd and API server alone.

    Its certificates are its own, so tokens that the database's control plane gave are good no more. Raises
    ControlPlaneError.
    """
    for component in (Component.KWOK, Component.SCHEDULER, Component.CONTROLLER_MANAGER):
        plane.kill(component)
    plane.kill(Component.API_SERVER)
    plane.kill(Component.ETCD)
    database = Layout(plane.state).etcd
    shutil.rmtree(database)
    shutil.copytree(place, database)
    database.chmod(0o700)
    plane.restart(Component.ETCD)
    plane.restart(Component.API_SERVER)


def _defragment(plane: ControlPlane) -> None:
    """Give back what compaction freed: the file is copied and read whole."""
    url = plane.ports.url(plane.ports.etcd) + "/v3/maintenance/defragment"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, b"{}"), timeout=_DEFRAGMENT_SECONDS) as answer:
            json.load(answer)
    except OSError as error:
        raise ControlPlaneError(f"etcd did not defragment ({error})") from error
