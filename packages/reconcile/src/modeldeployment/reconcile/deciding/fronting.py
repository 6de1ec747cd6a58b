"""The Services in front of the replicas: the rendered ones, and the headless ones of ordinals that still hold a Pod."""

from collections.abc import Iterable, Mapping

from modeldeployment.reconcile.deciding import keeping
from modeldeployment.reconcile.deciding.slots import RoleSlots


def wanted(rendered: Iterable[Mapping[str, object]], roles: Iterable[RoleSlots]) -> keeping.Bodies:
    """Every wanted Service."""
    bodies = {keeping.ref(body): body for body in rendered}
    for role in roles:
        if role.role is None or role.size == 1:  # a replica of one Pod has no name of its own
            continue
        for ordinal in (each for each in role.slots if each >= role.declared):
            headless = role.role.headless(ordinal)
            if headless is not None:
                bodies[keeping.ref(headless)] = headless
    return bodies
