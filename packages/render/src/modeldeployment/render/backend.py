"""An engine on the hardware it runs on, as far as that changes how cache blocks move.

Sources: facts rendering §1, §2, §4 and §8, facts encode §6, spec 2 §Pair connections.
"""

from collections.abc import Collection
from dataclasses import dataclass

from modeldeployment.render.releases import Failure, Floor, Use


@dataclass(frozen=True, slots=True)
class Backend:
    """One row of an engine's table of backends; empty words mean that there is no such thing.

    `store_connector` and `leg_connector` are what the transfer document calls the client of the shared store and the
    direct leg, `leg_port` the port a leg's document names, which then names the degrees of both halves too.
    `address_connector` stands in for the leg where a router knows addresses alone, and `address_variable` says at which
    one it is reached. `bootstrap_variable` says where a Prefill half is asked for its blocks. `only_transport` is the
    one transport its store client accepts. `pairs_everywhere` says whether a pair hands its blocks over behind every
    router, and not only behind those that pair Ascend. `publishes_events` whether it can publish KV events, `prefixes`
    whether its store connector takes a key prefix, `encodes` whether encoder output is handed over on it, `pins_tcp`
    whether a TCP leg is enforced through its environment. `driver` is a host path that its leg needs. `handshake` are
    the routing proxy's arguments for it, `encoder_handshake` those beside an Encode role, and `handshake_environment`
    its variables. `leg_takes_device` says whether fabric interfaces may be requested for its direct leg alone.

    `title` is what people call it, `floors` its oldest releases in ascending order, the first one for any use, and
    `failures` what is known to fail at them.
    """

    name: str
    title: str
    floors: tuple[Floor, ...]
    failures: tuple[Failure, ...] = ()
    store_connector: str = ""
    leg_connector: str = ""
    leg_port: int | None = None
    address_connector: str = ""
    address_variable: str = ""
    bootstrap_variable: str = ""
    only_transport: str = ""
    pairs_everywhere: bool = True
    publishes_events: bool = False
    prefixes: bool = True
    encodes: bool = True
    pins_tcp: bool = False
    driver: str = ""
    leg_takes_device: bool = False
    handshake: tuple[str, ...] = ()
    encoder_handshake: tuple[str, ...] = ()
    handshake_environment: tuple[tuple[str, str], ...] = ()

    def accepts(self, transport: str) -> bool:
        """Whether its store client can read blocks over a transport."""
        return not self.only_transport or transport == self.only_transport

    def floor(self, uses: Collection[Use] = ()) -> Floor:
        """Answer the oldest release that does for all `uses` (facts engine-versions §1)."""
        return next(floor for floor in reversed(self.floors) if floor.use is Use.ANY or floor.use in uses)
