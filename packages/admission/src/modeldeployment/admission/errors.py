"""What can keep the webhook from working.

AdmissionError
├── BadReview          a body that is no review, with the HTTP status that says so
├── Unreadable         an object that a write names could not be read
├── CertificateError   a certificate or key that cannot be used
└── ListenError        the webhook's address cannot be opened
"""


class AdmissionError(Exception):
    """Base of everything this package raises on purpose; the message is one sentence."""


class BadReview(AdmissionError):
    """The body is no review that can be answered; `status` is the HTTP status to say so with."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Unreadable(AdmissionError):
    """A named object could not be read, so nothing can be judged; the message says which and why."""


class CertificateError(AdmissionError):
    """A certificate or a key cannot be used; the message says why and never shows the key."""


class ListenError(AdmissionError):
    """The webhook's address cannot be opened; the message names it and the way out."""
