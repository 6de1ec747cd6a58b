"""The degrees that the two halves of a pair must agree on, where a transfer document names them.

Source: facts rendering §4, spec 2 §Pair connections.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.api.roles import RoleKind
from modeldeployment.render.engine import Engine


@dataclass(frozen=True, slots=True)
class Half:
    """One half of a pair: its tensor and its data degree."""

    tensor: int
    data: int


def halves(deployment: ModelDeployment, engine: Engine) -> Mapping[RoleKind, Half]:
    """Read the degrees of both halves from their own command lines; empty where no pair is declared.

    Raises RenderRefusal for a degree that cannot be read.
    """
    raise NotImplementedError
