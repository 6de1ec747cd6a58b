"""Which version of each member is installed."""

from importlib import metadata

MEMBERS = ("api", "kube", "router", "render", "reconcile", "admission", "operator")


def lines() -> tuple[str, ...]:
    """A line each: the member's distribution and its version."""
    return tuple(f"{name} {metadata.version(name)}" for name in (f"modeldeployment-{member}" for member in MEMBERS))
