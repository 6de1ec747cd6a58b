"""What ends a demo early.

LabError
└── DemoError            the demo could not be given
    ├── DemoRefused      it was asked for something it does not do
    ├── OperatorAbsent   the operator's program is not installed
    ├── OperatorEnded    the operator ended while it was needed
    ├── StoryTorn        the watches missed something, so nothing can be claimed any more
    └── ClusterLost      the cluster refused, or stopped answering
"""

from modeldeployment.lab.errors import LabError


class DemoError(LabError):
    """Base of this package's errors; the message names the way out."""


class DemoRefused(DemoError):
    """The demo was asked for something it does not do."""


class OperatorAbsent(DemoError):
    """The operator's program is not installed beside this Python."""


class OperatorEnded(DemoError):
    """The operator ended while it was needed."""


class StoryTorn(DemoError):
    """The watches missed something, so nothing can be claimed any more."""


class ClusterLost(DemoError):
    """The cluster refused a request of the demo, or stopped answering."""
