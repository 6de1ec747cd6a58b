"""The fabric interfaces of a Pod: which device follows from the transports that its legs use.

Source: facts rendering §12, facts api-dependencies §4.
"""

from collections.abc import Mapping

from modeldeployment.api.roles import Role
from modeldeployment.render.backend import Backend
from modeldeployment.render.joins import Joins


def interfaces(role: Role, backend: Backend, joins: Joins, manufacturer: str) -> Mapping[str, str]:
    """Answer the resource key and count of the requested interfaces; empty where none are requested.

    Raises RenderRefusal where no single fabric follows.
    """
    raise NotImplementedError
