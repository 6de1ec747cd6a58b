"""`md-lab demo`: a wrong deployment is refused; the minimal one of spec 1 comes, scales, shrinks, rolls and goes.

Then the pair of spec 2 comes behind a router, is edited as `kubectl md diff` foretold, and goes.

Every claim is checked. In causal order: `place` has a cluster, `operating` starts the real operator on it, `stage` puts
the fleet there, `reviewing` waits for the webhook, `served` puts engines behind Pods that are to retire, `acting` does
what a user would do, with `kubectl` or without, `recording` keeps every change the API server told of as a `history`,
`claims` judge the history, `scenario` says which act is judged by which claims, `pair` and `pair_claims` are those of
the second story, `playing` runs both, `showing` and `pictures` tell them. `manifests` are what is applied, `cli` is the
command.
"""
