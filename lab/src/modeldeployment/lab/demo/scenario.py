"""The story as data: what is done, when it has had its effect, and what is then claimed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from modeldeployment.api import ConditionType, Phase, names
from modeldeployment.lab.demo import claims, manifests
from modeldeployment.lab.demo.claims import Mistake, Verdict
from modeldeployment.lab.demo.history import Window, WorkloadSeen, World

NEW_IMAGE: Final = "registry.example/vllm-openai:0.29.1"
MISTAKES: Final = (
    Mistake("spec.engine.version", "MD010"),
    Mistake("spec.roles[0].kind", "MD006"),
    Mistake("spec.roles[0].resources.accelerator", "MD015"),
    Mistake("spec.roles[0].extraArgs[1]", "MD012"),
    Mistake("spec.roles[1].kind", "MD006"),
    Mistake("spec.roles[1].instanceType", "MD049"),
)
"""What is wrong with the wrong manifest, in the order of its fields."""


@dataclass(frozen=True, slots=True)
class ApplyFile:
    """Apply a manifest of ours, with kubectl."""

    manifest: str


@dataclass(frozen=True, slots=True)
class DiffFiles:
    """Ask what the edit from one manifest to another would do, with `kubectl md`; nothing is written."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class DeleteFile:
    """Delete what a manifest of ours declares, with kubectl."""

    manifest: str


@dataclass(frozen=True, slots=True)
class Apply:
    """Create the deployment of the manifest."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Ask for so many replicas."""

    replicas: int


@dataclass(frozen=True, slots=True)
class SetImage:
    """Give the role another image."""

    image: str


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete the Pod of one ordinal, as `kubectl delete pod` would."""

    ordinal: int


@dataclass(frozen=True, slots=True)
class DeleteDeployment:
    """Delete the deployment."""


Act: TypeAlias = ApplyFile | DiffFiles | DeleteFile | Apply | Scale | SetImage | DeletePod | DeleteDeployment


@dataclass(frozen=True, slots=True)
class Step:
    """One act; `reached(before, now)` says whether it has had its effect, `judge` what is claimed of its window.

    `pictured` asks for the tree of what there is afterwards, `served` for engines in the Pods that come meanwhile:
    only what can be asked how busy it is can retire.
    """

    title: str
    act: Act
    goal: str
    reached: Callable[[World, World], bool]
    judge: Callable[[Window], tuple[Verdict, ...]]
    pictured: bool = False
    served: bool = False


def prologue() -> Step:
    """The step before all others, where writes are reviewed."""
    return Step(
        "apply a wrong one",
        ApplyFile(manifests.WRONG),
        "nothing is there",
        lambda _, now: not now.objects,
        lambda window: (
            claims.all_told(window, MISTAKES),
            claims.codes_told(window, MISTAKES),
            claims.nothing_stored(window),
            claims.only_came(window, ()),
        ),
    )


def scenario(deployment: str, role: str, *, resource: str, flavor: str, served: bool) -> tuple[Step, ...]:
    """The steps, for a deployment of one role and the resource and flavor that its replicas are charged in.

    Where no Pod can be `served` it never shrinks.
    """
    rest = 4 if served else 6

    def owned(window: Window) -> Verdict:
        return claims.own_workloads(window, resource, flavor)

    return (
        Step(
            f"apply {deployment} with 4 replicas",
            Apply(),
            "4 replicas Ready",
            lambda _, now: settled(now, 4),
            lambda window: (
                claims.all_ready(window, 4),
                owned(window),
                claims.only_came(window, range(4)),
                claims.services(window, (names.deployment_service(deployment), names.role_service(deployment, role))),
            ),
            pictured=True,
        ),
        Step(
            "scale 4 → 6, with an engine behind each new Pod" if served else "scale 4 → 6",
            Scale(6),
            "6 replicas Ready",
            lambda _, now: settled(now, 6),
            lambda window: (
                claims.all_ready(window, 6),
                claims.untouched(window, range(4)),
                claims.only_came(window, range(4, 6)),
                owned(window),
            ),
            served=served,
        ),
        *((_shrink(),) if served else ()),
        Step(
            "change the image",
            SetImage(NEW_IMAGE),
            f"{rest} replicas Ready on the new image",
            lambda _, now: settled(now, rest) and all(pod.image == NEW_IMAGE for pod in now.pods),
            lambda window: (
                claims.all_ready(window, rest),
                claims.one_at_a_time(window, rest),
                claims.replaced_in_order(window, reversed(range(rest))),
                claims.successors_waited(window),
                claims.all_on_image(window, NEW_IMAGE),
                owned(window),
            ),
        ),
        Step(
            "delete the Pod of replica 1",
            DeletePod(1),
            "replica 1 replaced and Ready",
            lambda before, now: settled(now, rest) and not _survivors(before, now, 1),
            lambda window: (
                claims.all_ready(window, rest),
                claims.only_came(window, (1,)),
                claims.successors_waited(window),
                claims.untouched(window, (0, *range(2, rest))),
                owned(window),
            ),
            pictured=True,
        ),
        Step(
            f"delete {deployment}",
            DeleteDeployment(),
            "everything gone",
            lambda _, now: not now.objects,
            lambda window: (claims.nothing_left(window), claims.only_came(window, ())),
        ),
    )


def _shrink() -> Step:
    return Step(
        "scale 6 → 4: replicas retire",
        Scale(4),
        "4 replicas Ready, and none is on its way out",
        lambda _, now: settled(now, 4),
        lambda window: (
            claims.all_ready(window, 4),
            claims.only_highest_left(window, 4),
            claims.retired(window, (5, 4)),
            claims.untouched(window, range(4)),
            claims.only_came(window, ()),
        ),
        served=True,
    )


def settled(world: World, replicas: int) -> bool:
    """Whether the deployment and all that belongs to it have come to rest with so many replicas."""
    deployment = world.deployment
    return (
        deployment is not None
        and deployment.current
        and deployment.retirement is None
        and (deployment.phase, deployment.replicas, deployment.ready) == (Phase.READY, replicas, replicas)
        and deployment.condition(ConditionType.REPLICAS_UP_TO_DATE).status == "True"
        and deployment.condition(ConditionType.QUOTA_RESERVED).status == "True"
        and len(world.pods) == len(world.of(WorkloadSeen)) == replicas
        and all(pod.serving for pod in world.pods)
        and all(workload.admitted for workload in world.of(WorkloadSeen))
    )


def _survivors(before: World, now: World, ordinal: int) -> set[str]:
    return {pod.uid for pod in before.pods if pod.ordinal == ordinal} & set(now.objects)
