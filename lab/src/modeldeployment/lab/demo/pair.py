"""The second story as data: a pair behind a router comes, is edited as foretold, and goes."""

from typing import Final

from modeldeployment.api import ConditionType, names
from modeldeployment.lab.demo import claims, manifests, pair_claims
from modeldeployment.lab.demo.claims import Verdict
from modeldeployment.lab.demo.history import RouterSeen, Window, World
from modeldeployment.lab.demo.pair_claims import ROUTER, Fate
from modeldeployment.lab.demo.scenario import ApplyFile, DeleteFile, DiffFiles, Step, settled

DEPLOYMENT: Final = "qwen-pd"
PREFILL, DECODE = "prefill", "decode"
NEW_IMAGE: Final = "registry.example/vllm-openai:0.30.1"
FATES: Final = (Fate(PREFILL, created=1), Fate(DECODE, replaced=2), Fate(ROUTER))
"""What the edit does to Pods: the router is told how to find replicas, not which there are."""

_PROXY: Final = "routing-proxy"
_BEFORE: Final = {PREFILL: 2, DECODE: 2}
_AFTER: Final = {PREFILL: 3, DECODE: 2}


def pair(namespace: str, *, resource: str, flavor: str) -> tuple[Step, ...]:
    """The steps, in the namespace that gives the router its address, with what replicas are charged in."""
    url = f"http://{names.router(DEPLOYMENT)}.{namespace}.svc:8081"

    def owned(window: Window) -> Verdict:
        return claims.own_workloads(window, resource, flavor)

    return (
        Step(
            f"apply {DEPLOYMENT}, a pair behind llm-d-router",
            ApplyFile(manifests.PAIR),
            "4 replicas and the router Ready",
            lambda _, now: routed(now, 4),
            lambda window: (
                pair_claims.all_ready(window, _BEFORE),
                owned(window),
                claims.services(
                    window,
                    (
                        names.deployment_service(DEPLOYMENT),
                        *(names.role_service(DEPLOYMENT, role) for role in _BEFORE),
                    ),
                ),
                pair_claims.router_objects(window, DEPLOYMENT),
                pair_claims.router_ready(window),
                pair_claims.summary(window, "1R2P2D"),
                pair_claims.endpoint(window, url),
                pair_claims.proxied(window, DECODE, _PROXY),
            ),
            pictured=True,
        ),
        Step(
            f"foretell an edit: one more {PREFILL}, another image for {DECODE}",
            DiffFiles(manifests.PAIR, manifests.EDITED_PAIR),
            "everything as it was",
            lambda _, now: routed(now, 4),
            lambda window: (pair_claims.foretold(window, FATES), pair_claims.nothing_touched(window)),
        ),
        Step(
            "apply exactly that edit",
            ApplyFile(manifests.EDITED_PAIR),
            f"5 replicas Ready, {DECODE} on the new image",
            lambda _, now: routed(now, 5) and all(pod.image == NEW_IMAGE for pod in now.pods if pod.role == DECODE),
            lambda window: (
                pair_claims.all_ready(window, _AFTER),
                pair_claims.as_foretold(window, FATES),
                pair_claims.one_by_one(window),
                claims.successors_waited(window, ((PREFILL, 2),)),
                pair_claims.role_kept(window, PREFILL),
                pair_claims.router_kept(window),
                pair_claims.summary(window, "1R3P2D"),
                owned(window),
            ),
        ),
        Step(
            f"delete {DEPLOYMENT}",
            DeleteFile(manifests.PAIR),
            "everything gone",
            lambda _, now: not now.objects,
            lambda window: (pair_claims.nothing_left(window), claims.only_came(window, ())),
        ),
    )


def routed(world: World, replicas: int) -> bool:
    """Whether the deployment and all that belongs to it have come to rest, its router Ready."""
    deployment = world.deployment
    return (
        settled(world, replicas)
        and deployment is not None
        and deployment.condition(ConditionType.ROUTER_READY).status == "True"
        and all(each.ready for each in world.of(RouterSeen))
    )
