"""Sets whose groups are admitted together or not at all."""

from typing import Final

from modeldeployment.api import kueue
from modeldeployment.lab.crashes.scenarios.scenario import Act, Ends, Scenario, cluster, edits, quota, standing, waits
from modeldeployment.lab.model import World
from modeldeployment.lab.model.resources import JSON

_CHECKS: Final = (kueue.JOINT_CHECK,)


def _short(cards: int) -> Act:
    def begin(world: World) -> None:
        cluster(checks=_CHECKS)(world)
        quota(cards)(world)

    return begin


def _pair(world: World) -> None:
    world.create(world.pair("chat", router=""))


def _both_grow(world: World) -> None:
    edits("/spec/roles/0/replicas", 2)(world)
    edits("/spec/roles/1/replicas", 2)(world)


def _both_roll(world: World) -> None:
    edits("/spec/roles/0/image", "engine:2")(world)
    edits("/spec/roles/1/image", "engine:2")(world)


def _half(world: World, kind: str, maker: str, cards: int) -> JSON:
    return world.role(kind.lower(), kind=kind, instanceType=_type(world, maker), resources={"accelerator": cards})


def _type(world: World, maker: str) -> str:
    types = (str(each["metadata"]["name"]) for each in world.server.items("instancetypes"))
    return next(each for each in types if each.startswith(f"gpustack-{maker}-"))


def _makers(nvidia: int, amd: int) -> Act:
    """Two queues, with quota for so many cards of each maker."""

    def begin(world: World) -> None:
        for maker, cards in (("nvidia", nvidia), ("amd", amd)):
            world.fleet(maker=maker, nodes=1, cards=8, checks=_CHECKS)
            world.quota(_type(world, maker), cards)

    return begin


def _quotas(**cards: int) -> Act:
    def act(world: World) -> None:
        for maker, many in cards.items():
            world.quota(_type(world, maker), many)

    return act


def _grows(name: str) -> Act:
    def act(world: World) -> None:
        edits("/spec/roles/0/replicas", 2, name)(world)
        edits("/spec/roles/1/replicas", 2, name)(world)

    return act


def _set(name: str, cards: int) -> Act:
    def act(world: World) -> None:
        halves = [_half(world, "Prefill", "nvidia", 1), _half(world, "Decode", "amd", cards)]
        world.create(world.manifest(name, roles=halves))

    return act


JOINING: Final = (
    Scenario(
        "short-pair",
        "a pair comes to a queue with room for one of its halves, then for both",
        _short(1),
        (_pair, quota(2)),
        Ends(pods=(2, 0), quota=("Reserved",)),
    ),
    Scenario(
        "growing-pair",
        "both roles of a pair grow in a queue with room for one of the newcomers, then for both",
        standing(_short(3), _pair),
        (_both_grow, quota(4)),
        Ends(pods=(2, 0), survivors=("decode/0.0", "prefill/0.0"), quota=("Reserved",)),
    ),
    Scenario(
        "rolling-pair",
        "the image of a pair changes while newcomers to it are held for want of quota, which then comes",
        standing(_short(3), _pair),
        (_both_grow, _both_roll, quota(4)),
        Ends(pods=(6, 4), quota=("Reserved",)),
    ),
    Scenario(
        "parked-pair",
        "a pair that never fits waits for more than an hour",
        _short(1),
        (_pair, waits(4000)),
        Ends(("Starting",), (2, 0), quota=("Parked",)),
        hurries=False,
    ),
    Scenario(
        "rivals",
        "two sets that each fit alone hold what the other waits for; room for both comes later",
        _makers(1, 1),
        (_set("chat", 2), _set("later", 1), _quotas(amd=2), _quotas(nvidia=2, amd=3)),
        Ends(("Ready", "Ready"), (4, 0), quota=("Reserved", "Reserved")),
        deployments=("chat", "later"),
    ),
    Scenario(
        "growing-rivals",
        "two running sets grow, and their newcomers hold what the other's wait for",
        standing(_makers(2, 3), _set("chat", 2), _set("later", 1), _quotas(nvidia=3, amd=4)),
        (_grows("chat"), _grows("later"), _quotas(amd=5)),
        Ends(
            ("Ready", "Degraded"),
            (4, 0),
            survivors=("decode/0.0", "prefill/0.0"),
            quota=("Reserved", ""),
        ),
        deployments=("chat", "later"),
    ),
)
