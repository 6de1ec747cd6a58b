"""Amounts as people count them: whole accelerators, and processors where a queue counts those."""

from fractions import Fraction
from typing import Final

from modeldeployment.api import ModelDeployment, kueue

CARDS: Final = "cards"
CPUS: Final = "CPUs"


def unit(resource: str) -> str:
    """What a resource of a queue is counted in; empty for one that no role is charged for."""
    if resource.startswith(kueue.CREDITS):
        return CARDS
    return CPUS if resource == "cpu" else ""


def amount(resource: str, quantity: Fraction) -> Fraction:
    """An amount of a queue in its unit."""
    return quantity / kueue.CREDITS_PER_CARD if unit(resource) == CARDS else quantity


def cards(deployment: ModelDeployment, role: str) -> int | None:
    """Accelerators that one replica of a role asks for; None where there is no such role."""
    found = next((each for each in deployment.spec.roles if each.name == role), None)
    if found is None:
        return None
    each = found.resources.accelerator if found.resources is not None else None
    return (1 if each is None else each.units) * found.size


def asked(deployment: ModelDeployment, role: str, counted_in: str) -> str:
    """What one replica of a role asks for, as far as the deployment itself says so."""
    wanted = cards(deployment, role)
    if wanted is None:
        return "nothing"
    if counted_in != CARDS:
        return f"what its {role} Pods request"
    return count(wanted)


def count(wanted: int) -> str:
    """So many accelerators."""
    return "1 card" if wanted == 1 else f"{wanted} cards"
