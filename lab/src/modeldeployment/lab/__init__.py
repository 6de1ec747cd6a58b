"""A real control plane as child processes, fleets of fake nodes, and benchmarks."""
