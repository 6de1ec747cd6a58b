"""What the operator raises.

OperatorError
├── SettingsError   a setting cannot be used
├── ListenError     the address of the metrics and health endpoints is taken
└── UsageError      the command line was given what it cannot use
"""


class OperatorError(Exception):
    """Base of everything this package raises on purpose; the message is the one sentence a user reads."""


class SettingsError(OperatorError):
    """A setting has a value that cannot be used; names the setting, the value, why and the way out."""


class ListenError(OperatorError):
    """The address of the metrics and health endpoints cannot be opened."""


class UsageError(OperatorError):
    """What the command line was given cannot be used; names it, says why and, where there is one, the way out."""
