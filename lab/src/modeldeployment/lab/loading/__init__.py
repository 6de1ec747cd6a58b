"""A load for routers and engines that accounts for every request.

`Load` says what is sent, the same for the same seed; `send` sends it, open loop, and returns an `Account`: answered in
full, refused before work began, cut, failed or given up, each with its cause and the engine that served it. A recorded
trace is `read`, `played` at a `Tempo`, and `deliver`ed in the same way.
"""

from modeldeployment.lab.loading.accounts import LOST, Account, Answer, Outcome, together
from modeldeployment.lab.loading.planning import Load, Request, requests
from modeldeployment.lab.loading.sending import deliver, send
from modeldeployment.lab.loading.traces import Arrival, Tempo, TraceUnreadable, played, read

__all__ = [
    "LOST",
    "Account",
    "Answer",
    "Arrival",
    "Load",
    "Outcome",
    "Request",
    "Tempo",
    "TraceUnreadable",
    "deliver",
    "played",
    "read",
    "requests",
    "send",
    "together",
]
