"""Crash anywhere: scenarios played on the fake world with one thing going wrong, at every write and every event.

- `scenarios`: what people do, and how it ends when nothing goes wrong.
- `faults`: a kill before or after a write, a lost answer, a refusal, an event that is late, merged or dropped, another
  order of events, a user who does not wait.
- `playing`: one run. `promises` judges every write in it, by what the server holds and what the pass saw (`scenes`).
- `judging`: a disturbed run against the undisturbed one: same end, no more creates and deletes than the fault costs.
- `product`: every run there is.
- `bugs`: known bugs of this class as edits of the source; `seeding` puts one into a copy of the tree and has it looked
  for there, `reporting` writes docs/reliability.md.
"""

from modeldeployment.lab.crashes.faults import Fault, Undisturbed
from modeldeployment.lab.crashes.judging import judged, sound
from modeldeployment.lab.crashes.playing import Run, play
from modeldeployment.lab.crashes.product import faults_of
from modeldeployment.lab.crashes.scenarios import SCENARIOS, Ends, Scenario

__all__ = [
    "SCENARIOS",
    "Ends",
    "Fault",
    "Run",
    "Scenario",
    "Undisturbed",
    "faults_of",
    "judged",
    "play",
    "sound",
]
