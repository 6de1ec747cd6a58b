"""What can go wrong between us and an API server.

KubeError
├── AccessError        no usable configuration or credential
├── Unreachable        no answer, and nothing was changed
├── Uncertain          no answer to a write: it may have been committed, so read again before deciding
├── Malformed          an answer that does not have the shape it must have
└── ApiError           the server answered and refused
    ├── Invalid            400, 422
    ├── Unauthorized       401
    ├── Forbidden          403
    ├── NotFound           404
    ├── AlreadyExists      409 to a create
    ├── Conflict           409: stale resourceVersion, other UID, foreign field owner
    ├── Gone               410: that resourceVersion or continue token is too old
    ├── TooManyRequests    429, after the retries
    └── ServerFailure      5xx, after the retries
"""

import msgspec


class Cause(msgspec.Struct, frozen=True, rename="camel"):
    """One reason of a refusal: the field it is about, a code and a sentence."""

    reason: str = ""
    message: str = ""
    field: str = ""


class Details(msgspec.Struct, frozen=True, rename="camel"):
    """What the server adds to a refusal: the object it is about and the causes, one per field."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: tuple[Cause, ...] = ()
    retry_after_seconds: int = 0


class KubeError(Exception):
    """Base of everything this package raises on purpose."""


class AccessError(KubeError):
    """There is no usable configuration or credential; the message names where it was looked for."""


class Unreachable(KubeError):
    """The server gave no answer and nothing was changed by this request; the message names server and way out."""


class Uncertain(KubeError):
    """A write was sent and its answer was lost: it may have been committed. Read the object before deciding again."""


class Malformed(KubeError):
    """The server's answer does not have the shape it must have."""


class ApiError(KubeError):
    """The server answered and refused: HTTP status, machine-readable reason, message (cropped), details."""

    def __init__(self, status: int, reason: str, message: str, details: Details) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message
        self.details = details


class Invalid(ApiError):
    """The object or the request breaks a rule of the server or of one of its webhooks (400, 422)."""


class Unauthorized(ApiError):
    """The server does not know us, also after the credential was read anew (401)."""


class Forbidden(ApiError):
    """We are not allowed to, or an admission plugin or quota refuses (403)."""


class NotFound(ApiError):
    """There is no such object, or no such kind (404)."""


class AlreadyExists(ApiError):
    """An object of that name exists (409 to a create)."""


class Conflict(ApiError):
    """Our knowledge is old: resourceVersion or UID differ, or another field owner holds the field (409)."""


class Gone(ApiError):
    """That resourceVersion or continue token is too old (410); list and watch handle it themselves."""


class TooManyRequests(ApiError):
    """The server is overloaded or a disruption budget is used up (429); retry_after in seconds, 0 if unsaid."""

    @property
    def retry_after(self) -> int:
        """Seconds the server asked us to wait."""
        return self.details.retry_after_seconds


class ServerFailure(ApiError):
    """The server or a webhook behind it failed (5xx), also after the retries."""
