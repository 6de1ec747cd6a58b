"""What can be wrong with fake engines.

LabError
└── EngineError
    ├── AddressRefused   no Pod address of the lab
    ├── AddressTaken     another program listens there
    └── TooManySockets   the system lends this process fewer sockets than the addresses need
"""

from modeldeployment.lab.errors import LabError


class EngineError(LabError):
    """Base of this package's errors; the message is one sentence with value, reason and way out."""


class AddressRefused(EngineError):
    """The address is none of the lab's Pod addresses."""


class AddressTaken(EngineError):
    """Another program listens at this address and port."""


class TooManySockets(EngineError):
    """The system lends this process fewer sockets than the addresses need."""
