"""What can go wrong in the fake world.

ModelError
├── Unsettled      things still move after the time that was given
└── Unmodelled     a request that this server does not know; the model has to learn it

Killed is no error: it ends a process where it stands, and nothing in that process can catch it by accident.
"""


class ModelError(Exception):
    """Base of what the fake world raises on purpose."""


class Unsettled(ModelError):
    """Things still move after the time that was given; the message has the latest of them."""


class Unmodelled(ModelError):
    """A request or an object that this server does not know."""


class Killed(BaseException):
    """The process ends here and now; raise it from a hook of its client."""
