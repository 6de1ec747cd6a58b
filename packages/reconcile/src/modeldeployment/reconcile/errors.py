"""What this package raises.

ReconcileError
├── Unreadable     a stored deployment does not fit the model of this release
├── CreateFailed   some Pods of a pass could not be created; the others were
└── ObjectRefused  the API server does not take an object beside the Pods, or something undoes what it took
"""


class ReconcileError(Exception):
    """Base of everything this package raises on purpose."""


class Unreadable(ReconcileError):
    """A stored deployment cannot be read; the message names the field and the value."""


class CreateFailed(ReconcileError):
    """Some creates of a pass failed: how many of how many, and the first refusal as the cause."""


class ObjectRefused(ReconcileError):
    """A Service or an object of a router is refused, or changed back: which, and the server's own words, if any."""
