"""What each router is: the engines it serves, the flags the operator derives, and what it asks of engine Pods.

`ROUTERS` is the closed catalogue, one `RouterRow` per router. A row says which arguments it `owns`, which engine
`Metric` it needs, and by which `Policies` or `FixedProfile` it picks a replica. The ports are those of engine Pods that
routers and the other half of a pair dial. `withdrawal` is how each router is shown to send a replica nothing more
before it is deleted, and `exposition` reads the numbers that programs publish.
"""

from modeldeployment.router import exposition, withdrawal
from modeldeployment.router.catalogue import ROUTERS
from modeldeployment.router.front import (
    Front,
    FrontedRole,
    Images,
    MetricMissing,
    NotPlain,
    PortsDiffer,
    RouterRefusal,
    RouterRendering,
    Run,
)
from modeldeployment.router.objects import endpoint
from modeldeployment.router.ports import (
    BOOTSTRAP_PORT,
    ENCODER_REGISTRY_PORT,
    ENCODER_TRANSFER_PORT,
    KV_EVENTS_PORT,
    KV_EVENTS_REPLAY_PORT,
    KV_EVENTS_TOPIC,
    LISTEN_PORT,
    METRICS_PORT,
)
from modeldeployment.router.rendering import render
from modeldeployment.router.row import FixedProfile, Metric, Policies, RouterRow
from modeldeployment.router.standing import Standing

__all__ = [
    "BOOTSTRAP_PORT",
    "ENCODER_REGISTRY_PORT",
    "ENCODER_TRANSFER_PORT",
    "KV_EVENTS_PORT",
    "KV_EVENTS_REPLAY_PORT",
    "KV_EVENTS_TOPIC",
    "LISTEN_PORT",
    "METRICS_PORT",
    "ROUTERS",
    "FixedProfile",
    "Front",
    "FrontedRole",
    "Images",
    "Metric",
    "MetricMissing",
    "NotPlain",
    "Policies",
    "PortsDiffer",
    "RouterRefusal",
    "RouterRendering",
    "RouterRow",
    "Run",
    "Standing",
    "endpoint",
    "exposition",
    "render",
    "withdrawal",
]
