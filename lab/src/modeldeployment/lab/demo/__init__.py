"""`md-lab demo`: a wrong deployment is refused, the minimal one of spec 1 comes, scales, rolls, heals and goes.

Every claim is checked. In causal order: `place` has a cluster, `operating` starts the real operator on it, `stage` puts
the fleet there, `reviewing` waits for the webhook, `acting` does what a user would do, with `kubectl` or without,
`recording` keeps every change the API server told of as a `history`, `claims` judge the history, `scenario` says which
act is judged by which claims, `playing` runs it, `showing` and `pictures` tell the story. `cli` is the command.
"""
