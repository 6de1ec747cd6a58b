"""`md-lab demo`: the minimal deployment of spec 1 comes, scales, rolls, heals and goes, and every claim is checked.

In causal order: `place` has a cluster, `operating` starts the real operator on it, `stage` puts the fleet there,
`acting` does what a user would do, `recording` keeps every change the API server told of as a `history`, `claims`
judge the history, `scenario` says which act is judged by which claims, `playing` runs it, `showing` and `pictures`
tell the story. `cli` is the command.
"""
