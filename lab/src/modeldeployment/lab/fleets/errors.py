"""What can be wrong with a fleet.

LabError
└── FleetError
    ├── FleetRefused      a field's value cannot make a fleet
    ├── PoolMismatch      two fleets of one InstanceType disagree on what it is
    ├── FleetNotFound     no fleet has that name
    ├── NodesNotReady     nodes did not become Ready in time
    ├── KueueAbsent       the cluster does not serve Kueue's kinds
    ├── QueueInactive     Kueue did not activate a fleet's ClusterQueue in time
    └── ClusterRefused    the cluster did not answer, or refused what was asked
"""

from modeldeployment.lab.errors import LabError


class FleetError(LabError):
    """Base of this package's errors; the message is one sentence with field, value, reason and way out."""


class FleetRefused(FleetError):
    """A field's value cannot make a fleet."""


class PoolMismatch(FleetError):
    """Two fleets of one InstanceType disagree on a field that belongs to the type."""


class FleetNotFound(FleetError):
    """No fleet has that name."""


class NodesNotReady(FleetError):
    """Nodes did not become Ready in time."""


class KueueAbsent(FleetError):
    """The cluster does not serve Kueue's kinds."""


class QueueInactive(FleetError):
    """Kueue did not activate a fleet's ClusterQueue in time."""


class ClusterRefused(FleetError):
    """The cluster did not answer, or refused what was asked."""
