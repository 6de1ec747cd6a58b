"""Random edits of deployments, as a user might make them, from a seed."""

import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final, TypeAlias

JSON: TypeAlias = dict[str, Any]
Edit: TypeAlias = Callable[[random.Random, JSON], None]

LARGEST: Final = 4
"""Most replicas that an edit declares for a role."""


def edited(chance: random.Random, manifest: JSON) -> tuple[str, JSON]:
    """One edit of a copy: its name, and the manifest with it; it may change nothing."""
    edits = (*ALWAYS, *(ROUTED if len(manifest["spec"]["roles"]) > 1 else ()))
    chosen = chance.choice(edits)
    copy = deepcopy(manifest)
    chosen(chance, copy)
    return chosen.__name__, copy


def _role(chance: random.Random, manifest: JSON) -> JSON:
    role: JSON = chance.choice(manifest["spec"]["roles"])
    return role


def image(chance: random.Random, manifest: JSON) -> None:
    """Run a role's replicas from another image."""
    _role(chance, manifest)["image"] = chance.choice(["lab/one", "lab/two", "lab/three"])


def image_of_all(chance: random.Random, manifest: JSON) -> None:
    """Name an image for every role that names none, which may be none of them."""
    manifest["spec"]["engine"]["image"] = chance.choice(["lab/four", "lab/five"])


def variable(chance: random.Random, manifest: JSON) -> None:
    """Set a variable, or take it away."""
    role = _role(chance, manifest)
    role["env"] = chance.choice([[], [{"name": "A", "value": "1"}], [{"name": "A", "value": "2"}]])


def arguments(chance: random.Random, manifest: JSON) -> None:
    """Give the engine arguments, or take them away."""
    _role(chance, manifest)["extraArgs"] = chance.choice([[], ["--seed=1"], ["--seed", "1"]])


def count(chance: random.Random, manifest: JSON) -> None:
    """Declare more replicas, or the same: nobody serves these Pods, so none of them could be seen to run empty."""
    role = _role(chance, manifest)
    role["replicas"] = min(LARGEST, role.get("replicas", 1) + chance.choice((0, 1, 1)))


def count_and_image(chance: random.Random, manifest: JSON) -> None:
    """Scale and roll in one edit, the same role or not."""
    role = _role(chance, manifest)
    count(chance, manifest)
    role["image"] = chance.choice(["lab/six", "lab/seven"])


def ports(chance: random.Random, manifest: JSON) -> None:
    """Serve at another port, in all roles alike."""
    chosen: list[JSON] = chance.choice([[], [{"port": 9000}], [{"port": 9100}]])
    for role in manifest["spec"]["roles"]:
        role["ports"] = chosen


def grace(chance: random.Random, manifest: JSON) -> None:
    """Give leaving Pods another time, or what they have anyway."""
    _role(chance, manifest)["terminationGracePeriodSeconds"] = chance.choice([15, 30, 45])


def label(chance: random.Random, manifest: JSON) -> None:
    """Label the deployment, which is no Pod's business."""
    manifest["metadata"]["labels"] = {"edit": str(chance.randint(0, 9))}


def default(chance: random.Random, manifest: JSON) -> None:
    """Write out what holds anyway."""
    _role(chance, manifest)["privileged"] = False


def router(chance: random.Random, manifest: JSON) -> None:  # noqa: ARG001 (every edit has one shape)
    """Take the router away, or bring it back."""
    name = manifest["metadata"]["annotations"]["router"]
    if manifest["spec"].pop("router", None) is None:
        manifest["spec"]["router"] = {"name": name}


def router_arguments(chance: random.Random, manifest: JSON) -> None:
    """Give the router arguments, where there is one."""
    if "router" in manifest["spec"]:
        manifest["spec"]["router"]["extraArgs"] = chance.choice([[], ["--log-level=debug"]])


def router_count(chance: random.Random, manifest: JSON) -> None:
    """Run more or fewer routers, where there is one."""
    if "router" in manifest["spec"]:
        manifest["spec"]["router"]["replicas"] = chance.randint(1, 2)


def transport(chance: random.Random, manifest: JSON) -> None:
    """Hand blocks over another way."""
    manifest["spec"]["kvTransfer"] = {"protocol": chance.choice(["TCP", "RDMA"])}


ALWAYS: Final[tuple[Edit, ...]] = (
    image,
    image_of_all,
    variable,
    arguments,
    count,
    count_and_image,
    ports,
    grace,
    label,
    default,
)
ROUTED: Final[tuple[Edit, ...]] = (router, router_arguments, router_count, transport)
"""Edits of deployments whose roles make a pair; the annotation `router` says which router theirs is."""
