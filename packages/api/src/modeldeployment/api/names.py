"""Names of every object a deployment owns, each derivable before the object exists.

Nothing ever parses one of these back: the ordinal and the member travel in labels of their own.
Sources: facts reconcile §2, facts rendering §10, facts api-dependencies §2.
"""

from typing import Final

HASHED_PREFIX: Final = "gpustack-fnv64-"

_OFFSET: Final = 0xCBF29CE484222325
_PRIME: Final = 0x100000001B3
_MASK: Final = 0xFFFFFFFFFFFFFFFF


def fnv1a64(data: bytes) -> int:
    """FNV-1a hash of `data`, 64 bits wide."""
    digest = _OFFSET
    for byte in data:
        digest = ((digest ^ byte) * _PRIME) & _MASK
    return digest


def _hashed(*parts: str) -> str:
    return f"{HASHED_PREFIX}{fnv1a64('/'.join(parts).encode()):016x}"


def group_name(namespace: str, deployment: str, role: str, ordinal: int) -> str:
    """Pod group of one replica, and so the name of its Workload; always hashed, always 31 characters."""
    return _hashed(namespace, deployment, role, str(ordinal))


def role_key(namespace: str, deployment: str, role: str) -> str:
    """Key that joins all replicas of one role in status; no object carries it."""
    return _hashed(namespace, deployment, role)


def entrance(cluster_queue: str) -> str:
    """LocalQueue that leads to `cluster_queue` in every namespace; what an InstanceType publishes as its entrance."""
    return _hashed(cluster_queue)


def deployment_service(deployment: str) -> str:
    """Service in front of the whole deployment."""
    return deployment


def role_service(deployment: str, role: str) -> str:
    """Service in front of one role."""
    return f"{deployment}-{role}"


def replica_service(deployment: str, role: str, ordinal: int) -> str:
    """Headless Service of one replica, and the subdomain of its members; exists only above size 1."""
    return f"{deployment}-{role}-r{ordinal}"


def member_pod(deployment: str, role: str, ordinal: int, member: int) -> str:
    """Pod and hostname of one member; used only above size 1."""
    return f"{deployment}-{role}-r{ordinal}-m{member}"


def leader_address(deployment: str, role: str, ordinal: int) -> str:
    """Address at which the members of one replica reach their leader, within the namespace."""
    return f"{member_pod(deployment, role, ordinal, 0)}.{replica_service(deployment, role, ordinal)}"


def generate_name(deployment: str, role: str) -> str:
    """Prefix the API server completes to the Pod name of a replica of size 1."""
    return f"{deployment}-{role}-"


def router(deployment: str) -> str:
    """Every object of the deployment's router."""
    return f"{deployment}-router"
