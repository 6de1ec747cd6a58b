"""Fake engines: one process that answers as vLLM or SGLang would, at thousands of Pod addresses.

An `EngineServer` opens `FakeEngine`s at addresses of `POD_NETWORK`, and drains, ends and restarts them. Each has a
`Behaviour` that a test changes while it runs, an `EngineModel` that counts what its metrics tell, a `Telling` that says
how they are told, a record of everything it `Received`, and a `Ledger` of what became of every request. What is changed
here can be changed from another process too, under `/lab/` of the engine's own port.
"""

from modeldeployment.lab.engines.addresses import POD_NETWORK
from modeldeployment.lab.engines.behaviour import Behaviour, Half, Transfer
from modeldeployment.lab.engines.errors import AddressRefused, AddressTaken, EngineError, TooManySockets
from modeldeployment.lab.engines.fake import FakeEngine, Phase, Received
from modeldeployment.lab.engines.ledger import Entry, Ledger, Outcome
from modeldeployment.lab.engines.model import EngineModel, Place
from modeldeployment.lab.engines.serving import SERVING_PORT, EngineServer
from modeldeployment.lab.engines.telling import Manner, Telling

__all__ = [
    "POD_NETWORK",
    "SERVING_PORT",
    "AddressRefused",
    "AddressTaken",
    "Behaviour",
    "EngineError",
    "EngineModel",
    "EngineServer",
    "Entry",
    "FakeEngine",
    "Half",
    "Ledger",
    "Manner",
    "Outcome",
    "Phase",
    "Place",
    "Received",
    "Telling",
    "TooManySockets",
    "Transfer",
]
