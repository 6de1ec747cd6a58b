"""A fake world in memory in which the real controllers run: an API server, Kueue, scheduler, kubelet, and virtual time.

Nothing here sleeps, opens a socket or draws true randomness: the same calls on the same `World(seed)` give the same
story.

```python
with World() as world:                      # World(seed=7): moves in a random order instead of the usual one
    fleet = world.fleet(maker="nvidia", nodes=2)
    world.start()                           # the operator: real DeploymentController over real stores
    world.create(world.manifest("chat", replicas=2))
    world.settle()                          # until nothing moves but the clock
    world.edit("chat", "/spec/roles/0/replicas", 3)
    world.settle()
    assert world.outcome("chat").phase == "Ready"
```

In the order in which one meets them:

- `World`: holds all of it. `fleet`, `create`, `edit`, `apply`, `delete`, `drain`, `evict`… act as a user; `start` and
  `kill` begin and end an operator process; `step` makes one move, `run(seconds)`, `until(holds)` and `settle()` many;
  `outcome(name)` is what a person would see, comparable between runs and with a real cluster.
  `settle` ends where nothing would change for a minute; `settle(still=…)` waits out longer times, such as the half hour
  after which a set is parked. Sets are held together where the queue asks for it: `fleet(checks=(JOINT_CHECK,))`.
- `Server`: the API server. `server.story` is every write there ever was, by whom, with the object before and after
  (`Entry`); `server.watchers` are called with each that changed something, and may look but not write.
- `ModelClient`: a `kube.Client` whose `raw` asks the `Server`. `client.before` and `client.after` are called around
  every write of that process: raise `Killed` for a crash there, or a `kube` error for an answer that the process is to
  see (`after`: the write is done and its answer lost). `client.writes` counts them.
- `Wire`: the watches of one process. `wire.fate(event)` says for each event what becomes of it (`Fate`): delivered now,
  late (past the next pass), merged (late, and of each object only its latest state), or dropped (and a list follows).
- `Process`: one operator: `client`, `wire`, `watched`, `passes`, `failures`.
- `Move`: one thing that can happen next. `world.moves()` lists all that can; whoever drives the world may pick.
- `Outcome`, `outcome_of`: what is compared, computed from plain objects of either world.
"""

from modeldeployment.lab.model.client import ModelClient, Write
from modeldeployment.lab.model.errors import Killed, ModelError, Unmodelled, Unsettled
from modeldeployment.lab.model.moves import Move
from modeldeployment.lab.model.outcome import Group, Outcome, Seat, outcome_of
from modeldeployment.lab.model.process import Failure, Process
from modeldeployment.lab.model.server import Entry, Server
from modeldeployment.lab.model.wire import Event, Fate, Wire
from modeldeployment.lab.model.world import World

__all__ = [
    "Entry",
    "Event",
    "Failure",
    "Fate",
    "Group",
    "Killed",
    "ModelClient",
    "ModelError",
    "Move",
    "Outcome",
    "Process",
    "Seat",
    "Server",
    "Unmodelled",
    "Unsettled",
    "Wire",
    "World",
    "Write",
    "outcome_of",
]
