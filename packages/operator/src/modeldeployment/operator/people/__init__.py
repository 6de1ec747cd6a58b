"""`kubectl md`: what the webhook would say, and what its codes mean, for people.

In causal order: `manifests` reads files and remembers where everything stands, `knowing` makes facts of them, `asking`
reads a cluster instead, `judging` judges one object, `validating` does all that for a command, and `printing` says it.
`program` is the command line. Nothing is imported before it is needed: `kubectl md explain` is to answer at once.
"""

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `kubectl md`; leaves with 0 when all is allowed, 1 when something is refused, 2 when that cannot be told."""
    from modeldeployment.operator.people.program import run

    raise SystemExit(run(arguments))
