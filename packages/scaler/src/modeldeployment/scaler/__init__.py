"""Readings of engines, turned into one vector of replica counts with a reason for each, and committed.

In causal order: `binding` rules what a scaler may do with its target; `sampling` reads engines; `planning` turns what
was read, declared and remembered into a plan; the `ScalerController` commits it, tells it and hands it to a `journal`.
`Watched` keeps the stores that passes read, or shares those of whoever reconciles in the same process. `remembering`
makes a status of what planning remembers, and back. `backtesting`, which is imported for itself, plays a planner
against engines as fluid.
"""

from modeldeployment.scaler import binding, committing, journal, planning, remembering, sampling
from modeldeployment.scaler import scaling as _scaling
from modeldeployment.scaler import telling as _telling
from modeldeployment.scaler import watching as _watching
from modeldeployment.scaler.errors import ScalerError, Undecodable, Unreadable
from modeldeployment.scaler.scaling import Scaled, ScalerController
from modeldeployment.scaler.tallying import BOUNDS, Tally
from modeldeployment.scaler.watching import SCALERS, Key, Shared, Watched

GRANTS = (*_watching.GRANTS, *committing.GRANTS, *_scaling.GRANTS, *_telling.GRANTS)
"""What scaling asks of the API server."""

__all__ = [
    "BOUNDS",
    "GRANTS",
    "SCALERS",
    "Key",
    "Scaled",
    "ScalerController",
    "ScalerError",
    "Shared",
    "Tally",
    "Undecodable",
    "Unreadable",
    "Watched",
    "binding",
    "committing",
    "journal",
    "planning",
    "remembering",
    "sampling",
]
