"""A load for routers and engines that accounts for every request.

`Load` says what is sent, the same for the same seed; `send` sends it, open loop, and returns an `Account`: answered in
full, refused before work began, cut, failed or given up, each with its cause and the engine that served it.
"""

from modeldeployment.lab.loading.accounts import LOST, Account, Answer, Outcome, together
from modeldeployment.lab.loading.planning import Load, Request, requests
from modeldeployment.lab.loading.sending import send

__all__ = ["LOST", "Account", "Answer", "Load", "Outcome", "Request", "requests", "send", "together"]
