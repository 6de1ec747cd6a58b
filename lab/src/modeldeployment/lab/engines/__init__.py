"""Fake engines: one process that answers as vLLM or SGLang would, at thousands of Pod addresses.

An `EngineServer` opens `FakeEngine`s at addresses of `POD_NETWORK`. Each has a `Behaviour` that a test changes while it
runs, an `EngineModel` that counts what its metrics tell, and a record of everything it `Received`.
"""

from modeldeployment.lab.engines.addresses import POD_NETWORK
from modeldeployment.lab.engines.behaviour import Behaviour, Transfer
from modeldeployment.lab.engines.errors import AddressRefused, AddressTaken, EngineError, TooManySockets
from modeldeployment.lab.engines.fake import FakeEngine, Received
from modeldeployment.lab.engines.model import EngineModel
from modeldeployment.lab.engines.serving import SERVING_PORT, EngineServer

__all__ = [
    "POD_NETWORK",
    "SERVING_PORT",
    "AddressRefused",
    "AddressTaken",
    "Behaviour",
    "EngineError",
    "EngineModel",
    "EngineServer",
    "FakeEngine",
    "Received",
    "TooManySockets",
    "Transfer",
]
