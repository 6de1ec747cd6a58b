"""The operator: settings, process and command line.

In causal order: `load` reads `Settings`, `run` puts the process together. `cli` is the program, `people` is
`kubectl md`.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeldeployment.operator.errors import ListenError, OperatorError, SettingsError, UsageError
    from modeldeployment.operator.process import run
    from modeldeployment.operator.settings import Settings, load

__all__ = ["ListenError", "OperatorError", "Settings", "SettingsError", "UsageError", "load", "run"]

_HOMES = {"Settings": "settings", "load": "settings", "run": "process"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for: `kubectl md` must not pay for the whole process."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)
