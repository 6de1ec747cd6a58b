"""`kubectl md`: what the webhook would say, what the controller would do, and how a deployment stands, for people.

In causal order: `manifests` reads files and remembers where everything stands, `knowing` makes facts of them, `asking`
reads a cluster instead, `judging` judges one object, `validating` does all that for a command, and `printing` says it.
`rendering` goes on from a judged deployment to its rendering: `emitting` prints that, `annotating` with the origin of
every value. `foretelling` compares two of them, `contrasting` says what differs. `looking` reads how a deployment
stands in a cluster, `growing` draws that as a tree, `reasoning` follows it to the causes, `situating` does both for a
command. `dismissing` has what would happen if a replica left, which `telling` says, and the retry of a retirement that
was aborted, which `retrying` judges and waits for. `scalers` says why a scaler decides as it does. `program` is the
command line, its `commands` and their `options`.
Nothing is imported before it is needed: `kubectl md explain` is to answer at once.
"""

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `kubectl md`; leaves with 0 when all is allowed, 1 when something is refused, 2 when that cannot be told."""
    from modeldeployment.operator.people.program import run

    raise SystemExit(run(arguments))
