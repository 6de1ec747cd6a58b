"""Which API servers run native sidecars."""

import pytest
from modeldeployment.reconcile.servers import are_native


@pytest.mark.parametrize(
    ("major", "minor", "native"),
    [("1", "28", False), ("1", "29", True), ("1", "29+", True), ("1", "36", True), ("2", "0", True), ("", "", True)],
)
def test_native_sidecars_come_with_1_29_however_the_number_is_spelled(major: str, minor: str, native: bool) -> None:
    assert are_native(f'{{"major":"{major}","minor":"{minor}","gitVersion":"v"}}'.encode()) is native
