"""What a scaler would have done with recorded traffic, played in a model of engines as fluid.

In causal order: a `Trace` is demand by the second, `Fleet` says how engines serve it and how long they take to come. A
`Plant` is what is scaled: `Fluid` is one, and a simulator of single requests can be another. `play` lets a planner
decide about a plant pass by pass, `cheapest` knows the future instead, and `Score` is what came of either.
"""
