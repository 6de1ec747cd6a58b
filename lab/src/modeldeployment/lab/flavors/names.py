"""Names of the Kueue objects that stand behind an InstanceType (facts api-dependencies §2)."""

from typing import Final

from modeldeployment.lab.fleets import keys
from modeldeployment.lab.fleets.fleet import Fleet

_OFFSET_BASIS: Final = 0xCBF29CE484222325
_PRIME: Final = 0x100000001B3
_MASK: Final = 0xFFFFFFFFFFFFFFFF


def fnv64a(text: str) -> str:
    """Return the 64-bit FNV-1a hash of the text's UTF-8 bytes as 16 lower-case hex digits."""
    value = _OFFSET_BASIS
    for byte in text.encode():
        value = (value ^ byte) * _PRIME & _MASK
    return f"{value:016x}"


def local_queue_name(cluster_queue: str) -> str:
    """Return the LocalQueue's name for a ClusterQueue: always 31 characters, the same in every namespace."""
    return f"gpustack-fnv64-{fnv64a(cluster_queue)}"


def topology_name(levels: tuple[str, ...] = keys.LEVELS) -> str:
    """Return the Topology's name for ordered level keys: `gpustack-` and the profile."""
    return "gpustack-fnv64-" + fnv64a("\0".join(levels))


def flavor_name(fleet: Fleet) -> str:
    """Return the name of the flavor a fleet's nodes belong to: its type and shape, joined by one dash.

    The documents' examples join the parts of an InstanceType's name by single dashes; flavors follow.
    """
    return f"{fleet.instance_type}-{fleet.shape}"
