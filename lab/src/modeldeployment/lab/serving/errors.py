"""What can go wrong where Pods are served.

LabError
└── ServingError
    ├── PolicyIgnored   the API server does not take kwok's hands off Pods
    └── NotServed       no Pod of that name runs here
"""

from modeldeployment.lab.errors import LabError


class ServingError(LabError):
    """Base of this package's errors; the message is one sentence with value, reason and way out."""


class PolicyIgnored(ServingError):
    """The API server does not annotate Pods as it was told to."""


class NotServed(ServingError):
    """No Pod of that name runs here."""
