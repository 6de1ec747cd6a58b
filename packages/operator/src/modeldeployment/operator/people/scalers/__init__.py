"""`kubectl md` about scalers: why counts are what they are, and what else they would have been.

`passes` finds the pass that is asked about, in files or at the operator; `reasons` tells it stage by stage, and
`standing` tells what status alone says. `documents` reads the input of a single pass, `replays` repeats recorded ones,
`ignores` writes what a GitOps controller has to leave alone, and `recordings` and `backtests` play traffic. `commands`
are what the command line calls.
"""
