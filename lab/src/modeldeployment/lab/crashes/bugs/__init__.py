"""Known bugs of this class, as edits of the present source."""

from typing import Final

from modeldeployment.lab.crashes.bugs.bug import Bug, Edit
from modeldeployment.lab.crashes.bugs.deciding import DECIDING
from modeldeployment.lab.crashes.bugs.holding import HOLDING
from modeldeployment.lab.crashes.bugs.retiring import RETIRING
from modeldeployment.lab.crashes.bugs.watching import WATCHING
from modeldeployment.lab.crashes.bugs.writing import WRITING

BUGS: Final[tuple[Bug, ...]] = (*WRITING, *DECIDING, *RETIRING, *WATCHING, *HOLDING)
"""All of them, in the order of the table."""

__all__ = ["BUGS", "Bug", "Edit"]
