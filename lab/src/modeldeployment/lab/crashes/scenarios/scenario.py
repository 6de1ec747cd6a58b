"""What a scenario is: a start, what people then do, and how it ends when nothing goes wrong."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from modeldeployment.lab.model import Unsettled, World

Act: TypeAlias = Callable[[World], object]

_STEPS: Final = 5000


@dataclass(frozen=True, slots=True)
class Ends:
    """How a run ends that nothing disturbs, counted from the start of the scenario.

    `phases` are those of its deployments, empty for one that is gone. `survivors` are the seats (role/ordinal.member)
    whose Pods stood at the start and stand in the end, all of them. `pods` are the Pods that the operator created and
    those it deleted.
    """

    phases: tuple[str, ...] = ("Ready",)
    pods: tuple[int, int] = (0, 0)
    survivors: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    """The replicas that the operator lets go, in order, where it matters."""
    quota: tuple[str, ...] = ()
    """What `QuotaReserved` says in the end, by deployment, where it matters."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """`begin` makes the world before the operator under test starts; acts follow, each when all is still."""

    name: str
    what: str
    begin: Act
    acts: tuple[Act, ...]
    ends: Ends
    deployments: tuple[str, ...] = ("chat",)
    width: int = 1
    """Pods of its widest replica."""
    strangers: int = 0
    """Objects of others that come on the way and are to stand in the end."""
    spare: int = 0
    """Objects beside the Pods that are made once more where events of several kinds come in another order."""
    hurries: bool = True
    """Whether the second act may as well happen in the middle of the first."""


def cluster(*, nodes: int = 2, cards: int = 4, checks: tuple[str, ...] = ()) -> Act:
    """A world with one fleet and nobody in it."""
    return lambda world: world.fleet(maker="nvidia", nodes=nodes, cards=cards, checks=checks)


def standing(first: Act, *acts: Act) -> Act:
    """A world in which all this has been done by an operator that is then gone, and everything is still."""

    def begin(world: World) -> None:
        first(world)
        world.start()
        for act in acts:
            act(world)
            world.settle()
        world.kill()

    return begin


def creates(**fields: object) -> Act:
    """Somebody applies the deployment `chat`; `fields` of its one role."""
    return lambda world: world.create(world.manifest(**fields))  # type: ignore[arg-type]


def edits(path: str, value: object, name: str = "chat") -> Act:
    """Somebody edits a deployment."""
    return lambda world: world.edit(name, path, value)


def deletes(name: str = "chat", kind: str = "ModelDeployment") -> Act:
    """Somebody deletes an object."""
    return lambda world: world.delete(name, kind)


def quota(cards: int) -> Act:
    """The administrator gives the one queue quota for so many cards."""

    def given(world: World) -> None:
        (queue,) = world.server.items("clusterqueues")
        world.quota(queue["metadata"]["name"], cards)

    return given


def waits(seconds: float) -> Act:
    """Time passes; a controller that never rests does not let it."""

    def act(world: World) -> None:
        until = world.clock.seconds + seconds
        for _ in range(_STEPS):
            if min((move.at for move in world.moves()), default=until + 1) > until:
                world.clock.advance(until)
                return
            world.step()
        raise Unsettled(f"{_STEPS} moves in {seconds:g} s")

    return act
