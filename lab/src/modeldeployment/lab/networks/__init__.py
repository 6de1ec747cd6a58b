"""Networks of their own, for programs that listen on every address whatever they are told, and ways in and out of them.

`alone` makes one and holds it; where it cannot, `lonely` says why. A `Carrier` takes connections on: from an address of
this machine to a program inside, and from a program inside to an address of this machine. `cease` ends listening.
"""

from modeldeployment.lab.networks.carrying import Carrier, Stream
from modeldeployment.lab.networks.ceasing import cease
from modeldeployment.lab.networks.holding import ALONE, Network, NoNetwork, alone, lonely

__all__ = ["ALONE", "Carrier", "Network", "NoNetwork", "Stream", "alone", "cease", "lonely"]
