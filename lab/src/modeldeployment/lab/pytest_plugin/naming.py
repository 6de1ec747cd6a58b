"""Names of the namespaces tests get."""

import re
from typing import Final

_READABLE: Final = 20
"""Characters of a test's name kept in its namespace; the whole stays short enough to begin a Node's name."""


def namespace_name(test: str, worker: str, count: int) -> str:
    """Return a namespace's name for a test: its name's beginning, the worker that runs it, and a running number.

    `test` is pytest's node name, parameters included; `count` is unique within the worker.
    """
    words = re.sub(r"[^a-z0-9]+", "-", test.lower().removeprefix("test_")).strip("-")
    return f"{words[:_READABLE].strip('-')}-{worker}-{count}"
