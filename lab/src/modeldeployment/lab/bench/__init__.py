"""The benchmark suite: what the operator costs, beside what the same machine can do without it, in the same run.

In causal order: `goals` names what is measured and what is asked of it, `worlds` starts the control plane, `wire`
and `arrivals` drive and watch it without the operator's own client, `operating` runs the real operator, the scenarios
measure, `rows` keeps the numbers, `cli` is `md-lab bench`.
"""
