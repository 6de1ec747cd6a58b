"""How each router is shown to send a replica nothing more before the replica is deleted: pure.

`version` reads out of an image which version of a router's program it holds, and `program` answers how that one is
asked; None where nobody has measured it. A program's `withdraw` and `restore` take what one process answered to the
last requests and say what to ask next, and what is known: a `Step` with its `Verdict`. `ghosts` finds workers whose
Pods have gone unseen, `missed` Pods that a router gave up on, `views` reads what a process sends requests to.
Sources: facts routers-measured, status §6, decisions D8.
"""

from modeldeployment.router.withdrawal import ghosts, missed, views
from modeldeployment.router.withdrawal.asking import LIST, Advance, Ask, Door, Heard, State, Step, Subject, Verdict
from modeldeployment.router.withdrawal.gateway import admin_key
from modeldeployment.router.withdrawal.listing import BY_ID, Strange
from modeldeployment.router.withdrawal.programs import Program, program, unproven, version

__all__ = [
    "BY_ID",
    "LIST",
    "Advance",
    "Ask",
    "Door",
    "Heard",
    "Program",
    "State",
    "Step",
    "Strange",
    "Subject",
    "Verdict",
    "admin_key",
    "ghosts",
    "missed",
    "program",
    "unproven",
    "version",
    "views",
]
