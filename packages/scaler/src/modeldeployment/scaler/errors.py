"""What this package raises.

ScalerError
├── Undecodable  a document is not what it should be: a line of a journal, an input of planning
└── Unreadable   a stored scaler or deployment has a spec that this release cannot read
"""


class ScalerError(Exception):
    """Base of everything this package raises on purpose."""


class Undecodable(ScalerError):
    """A document cannot be read; the message names the field, the value, why, and the way out."""


class Unreadable(ScalerError):
    """An object that the API server holds cannot be read; the message says why."""
