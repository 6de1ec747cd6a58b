"""The operator: settings, process and command line.

In causal order: `load` reads `Settings`, `run` puts the process together. `cli` is the program.
"""

from modeldeployment.operator.errors import ListenError, OperatorError, SettingsError
from modeldeployment.operator.process import run
from modeldeployment.operator.settings import Settings, load

__all__ = ["ListenError", "OperatorError", "Settings", "SettingsError", "load", "run"]
