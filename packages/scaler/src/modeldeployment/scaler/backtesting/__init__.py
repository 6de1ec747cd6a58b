"""What a scaler would have done with recorded traffic, played in a model of engines as fluid.

In causal order: a `Trace` is demand by the second, `Fleet` says how engines serve it and how long they take to come. A
`Plant` is what is scaled: `Fluid` is one, and a simulator of single requests can be another. `play` lets a planner
decide about a plant pass by pass, and `follow` carries a schedule out. `cheapest` makes that of somebody who knows the
future, `contenders` sets the three algorithms up, and a `contest` is all of them on one trace, each with its `Score`.
"""

from modeldeployment.scaler.backtesting import cheapest, contenders, traces
from modeldeployment.scaler.backtesting.contests import Contest, contest
from modeldeployment.scaler.backtesting.fleets import Fleet, Group
from modeldeployment.scaler.backtesting.fluid import Fluid
from modeldeployment.scaler.backtesting.plants import Outcome, Plant
from modeldeployment.scaler.backtesting.playing import Score, follow, play
from modeldeployment.scaler.backtesting.traces import Arrival, Request, Trace

__all__ = [
    "Arrival",
    "Contest",
    "Fleet",
    "Fluid",
    "Group",
    "Outcome",
    "Plant",
    "Request",
    "Score",
    "Trace",
    "cheapest",
    "contenders",
    "contest",
    "follow",
    "play",
    "traces",
]
