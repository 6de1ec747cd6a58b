"""What can go wrong while measuring."""

from modeldeployment.lab.errors import LabError


class BenchError(LabError):
    """The suite could not measure what it was asked to; says what and the way out."""


class UnknownMeasurement(BenchError):
    """Nothing of this name is measured."""


class OperatorFailed(BenchError):
    """The operator ended or did not get where the scenario needs it."""


class Unexpected(BenchError):
    """The API server answered the suite's own sender with something else than success."""


class TooSlow(BenchError):
    """Something that was waited for did not happen in time."""
