"""A scaler of a deployment that is reconciled, whose queue admits what its quota lets it, in the fake world."""

from model_scaling import INTERVAL, Scene
from modeldeployment.api import keys, kueue
from modeldeployment.lab.model import World
from modeldeployment.lab.model.resources import JSON


class Queued(Scene):
    """A scene in a whole world: its deployment is reconciled, and a queue admits what its quota lets it.

    Roles are `server`, or `prefill` and `decode`, whose Workloads are then admitted together or not at all.
    """

    def __init__(self, world: World, *, cards: int, **replicas: int) -> None:
        self.world = world
        self._counts = replicas
        self._pool = world.fleet(nodes=2, cards=8, checks=(kueue.JOINT_CHECK,) if len(replicas) > 1 else ())
        self.quota(cards)
        world.start()
        super().__init__(world=world)
        self.settle()

    def deploy(self, replicas: int) -> None:  # noqa: ARG002 (a count of one role is not what this scene begins with)
        """Make the deployment, and wait until it serves; its counts were given before."""
        kinds = {"prefill": "Prefill", "decode": "Decode"}
        roles = [
            self.world.role(name, replicas=count, **({"kind": kinds[name]} if name in kinds else {}))
            for name, count in self._counts.items()
        ]
        self.world.create(self.world.manifest(roles=roles))
        self.world.settle()

    def quota(self, cards: int) -> None:
        """Let the queue have quota for so many cards, whoever runs on them."""
        self.world.quota(self._pool, cards)

    def later(self, seconds: float = INTERVAL) -> None:
        """Let time go by in the world, and take a pass whenever one is due."""
        end = self.clock.seconds + seconds
        while self.clock.seconds < end:
            self.world.run(min(INTERVAL, end - self.clock.seconds))
            self.settle()

    @property
    def counts(self) -> dict[str, int]:
        """The declared counts."""
        return {role["name"]: role["replicas"] for role in self.target["spec"]["roles"]}

    @property
    def vectors(self) -> list[tuple[int, ...]]:
        """Every vector that the deployment was declared with, in order and without repeats."""
        seen: list[tuple[int, ...]] = []
        for entry in self.server.story:
            if entry.plural == "modeldeployments" and entry.new is not None:
                vector = tuple(role["replicas"] for role in entry.new["spec"]["roles"])
                seen += [vector] if seen[-1:] != [vector] else []
        return seen

    def running(self) -> dict[str, str]:
        """The Pods that run and are not on their way out: their UIDs by seat."""
        return {
            f"{labels[keys.COMPONENT]}/{labels[keys.ORDINAL]}": meta["uid"]
            for meta, labels, status in (
                (pod["metadata"], pod["metadata"]["labels"], pod["status"]) for pod in self.world.pods()
            )
            if status.get("phase") == "Running" and "deletionTimestamp" not in meta
        }

    def waiting(self) -> list[str]:
        """The replicas that stand and are not admitted."""
        held = {
            each["metadata"]["name"]
            for each in self.server.items("workloads")
            if any(one["type"] == "Admitted" and one["status"] == "True" for one in each["status"]["conditions"])
        }
        return sorted(
            f"{labels[keys.COMPONENT]}/{labels[keys.ORDINAL]}"
            for labels in (each["metadata"]["labels"] for each in self.world.pods())
            if labels[keys.GROUP_NAME] not in held
        )

    def condition(self, kind: str) -> JSON:
        """What a condition of the scaler says."""
        return next(each for each in self.status["conditions"] if each["type"] == kind)
