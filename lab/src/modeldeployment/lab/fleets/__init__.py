"""Fleets: groups of equal fake nodes that carry a maker's devices."""
