"""What engines report, read over HTTP and turned into readings.

An `Engine` is asked by the `Sampler`, which is the rim. What it says becomes a tally, two tallies of one life become a
growth, and the growths of a role become its reading; all of these are pure.
"""

from modeldeployment.scaler.sampling.asked import MOST, Engine
from modeldeployment.scaler.sampling.pods import engine
from modeldeployment.scaler.sampling.sampler import ALTOGETHER, AT_ONCE, Pace, Sampler, Standing

__all__ = ["ALTOGETHER", "AT_ONCE", "MOST", "Engine", "Pace", "Sampler", "Standing", "engine"]
