"""What the API server is, as far as rendering depends on it."""

import re
from typing import Final

import msgspec

from modeldeployment.kube import Client
from modeldeployment.kube.requests import Request

NATIVE_SIDECARS: Final = (1, 29)
"""The first Kubernetes that starts sidecars before the containers beside them without being asked to."""


class _Version(msgspec.Struct):
    major: str = ""
    minor: str = ""


async def native_sidecars(client: Client) -> bool:
    """Ask the API server for its version; raises KubeError. A version nobody can read counts as new.

    No Grant covers this: Kubernetes lets every authenticated account read `/version`
    (ClusterRole `system:public-info-viewer`).
    """
    return are_native(await client.raw(Request("GET", "/version", repeatable=True)))


def are_native(body: bytes) -> bool:
    """Read the answer; vendors add to the minor number, as in `29+`."""
    version = msgspec.json.decode(body, type=_Version)
    numbers = [re.match(r"\d+", text) for text in (version.major, version.minor)]
    major, minor = (int(number[0]) if number else None for number in numbers)
    return major is None or minor is None or (major, minor) >= NATIVE_SIDECARS
