"""The main container's environment. Source: facts rendering §6."""

from modeldeployment.api import keys
from modeldeployment.render.compose import Fragment, FromUser
from modeldeployment.render.context import Context
from modeldeployment.render.engine import LEADER_ADDRESS, MEMBER_INDEX, REPLICA_SIZE
from modeldeployment.render.holes import Hole
from modeldeployment.render.parts.places import MAIN


def user_environment(context: Context) -> Fragment:
    """Set the role's own variables except names the operator owns, which only objects older than their refusal have."""
    owned = context.owned_environment
    return {
        (*MAIN, "env", variable.name): FromUser({"value": variable.value})
        for variable in context.role.env
        if variable.name not in owned
    }


def member_environment(context: Context) -> Fragment:
    """Tell a member who it is among its replica's, above size 1 only.

    The index comes from a label, so every member of a replica has the same container.
    """
    if context.role.size == 1:
        return {}
    return {
        (*MAIN, "env", LEADER_ADDRESS): {"value": Hole.LEADER},
        (*MAIN, "env", REPLICA_SIZE): {"value": str(context.role.size)},
        (*MAIN, "env", MEMBER_INDEX): {
            "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{keys.MEMBER_INDEX}']"}}
        },
    }
