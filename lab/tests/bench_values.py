"""Values of the benchmark suite for tests."""

from modeldeployment.lab.bench.goals import Measurement
from modeldeployment.lab.bench.rows import Value


def value(measurement: Measurement, number: float) -> Value:
    """A value measured against nothing in particular."""
    return Value(measurement, number, "a test")
