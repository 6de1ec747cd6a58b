"""Where in the cluster a replica must fit. Source: spec 1 §Topology placement."""

from modeldeployment.api import keys
from modeldeployment.render.compose import Fragment, FromUser
from modeldeployment.render.context import Context
from modeldeployment.render.parts.places import ANNOTATIONS


def topology(context: Context) -> Fragment:
    """Name the hierarchy level whose one domain must hold the whole replica; Kueue picks the domain."""
    wanted = context.role.topology
    if wanted is None or not wanted.required_level:
        return {}
    return {(*ANNOTATIONS, keys.REQUIRED_TOPOLOGY): FromUser(wanted.required_level)}
