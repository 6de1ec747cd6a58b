"""What this package raises.

ScalerError
└── Undecodable  a document is not what it should be: a line of a journal, an input of planning
"""


class ScalerError(Exception):
    """Base of everything this package raises on purpose."""


class Undecodable(ScalerError):
    """A document cannot be read; the message names the field, the value, why, and the way out."""
