"""Every state that planning, a deployment and a binding can get into together, one after another.

`worlds` is the deployment and what the scaler remembers, small enough to be hashed; `moves` says what can happen next,
with the real `plan`; `bindings` who may write, with the real `ruling`; `promises` what holds at each step; `explorer`
walks all of it, breadth first and always in the same order. `graphs` are the ratio graphs that projection has most
trouble with.
"""

from modeldeployment.lab.exploring.explorer import Explored, explore
from modeldeployment.lab.exploring.graphs import worst
from modeldeployment.lab.exploring.promises import PROMISES

__all__ = ["PROMISES", "Explored", "explore", "worst"]
