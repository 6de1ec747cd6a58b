"""From a front to its router's objects. Source: facts router-rendering."""

from modeldeployment.router.front import Front, RouterRendering


def render(front: Front) -> RouterRendering:
    """Render everything a router wants to exist.

    Two renders of one front are equal to the byte, and neither a replica count of a role nor the order of roles moves a
    configuration. Raises RouterRefusal where the router cannot front the deployment.
    """
    raise NotImplementedError
