"""What rendering raises.

RenderError
├── RenderRefusal   the object or the cluster does not allow it; a person can act on it
└── Clash           two Parts disagree (compose.py); a defect of this package
"""

from modeldeployment.api.conditions import RefusalReason


class RenderError(Exception):
    """Everything this package raises on purpose."""


class RenderRefusal(RenderError):
    """A deployment that cannot be rendered as it stands.

    `reason` is the reason of the false `Rendered` condition (decisions D19), `role` the role it is about (None: the
    whole deployment), `message` a sentence with field, value, why and the way out. `retryable` says whether the answer
    may change without an edit of the deployment, because it hangs on something the cluster has not published yet.
    """

    def __init__(self, reason: RefusalReason, role: str | None, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.role = role
        self.message = message
        self.retryable = retryable
