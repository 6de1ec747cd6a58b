"""A deployment and the facts of a cluster, rendered into Pods and Services.

`render` takes a `ModelDeployment` and the `Facts` looked up for it and answers a `Rendering`: one `RoleRendering` per
role, the `services`, the `endpoint` and `notices`. A role is rendered once into a `Template`; `seats` lists its
`Seat`s, and for each the template gives the Pod's `body`, its `fingerprint` and its pod `group`. What cannot be
rendered raises `RenderRefusal`.

`ENGINES` and `MAKERS` are the closed catalogues behind it. What an engine reads from a user's own arguments is answered
without rendering: which argument it owns (`Engine.owns`), where it listens (`listener`), which ports are kept from it
(`reserved_ports`), under which names it serves (`Engine.served_names`), and its parallel `degrees`. A `Backend` is an
engine on one maker's hardware: how it moves blocks, and from which releases on (`Floor`, `Failure`); `fabric` says
which device its transfers use.
"""

from modeldeployment.render import degrees, encoding, fabric
from modeldeployment.render.backend import Backend
from modeldeployment.render.compose import Clash, Placed
from modeldeployment.render.degrees import Degrees, Unreadable
from modeldeployment.render.engine import DTYPE_FLAG, MEMBER_VARIABLES, SERVED_MODEL_NAME, Engine, Gauges, Signals
from modeldeployment.render.engines import ENGINES
from modeldeployment.render.errors import RenderError, RenderRefusal
from modeldeployment.render.facts import Delivery, Facts, Policy
from modeldeployment.render.flags import Given
from modeldeployment.render.image import RuntimeVersionSkew
from modeldeployment.render.joins import NO_EVENTS, transfer_transport
from modeldeployment.render.listener import DEFAULT_PORT, ContainerPort, Listener, listener
from modeldeployment.render.makers import MAKERS, Maker
from modeldeployment.render.parallelism import Degree, DegreeTable, LoadBalance
from modeldeployment.render.parts.drain import DEFAULT_GRACE
from modeldeployment.render.ports import reserved_ports
from modeldeployment.render.releases import Failure, Floor, Use
from modeldeployment.render.rendering import Notice, Rendering, RoleRendering, render
from modeldeployment.render.store import TRANSPORTS, Domain, Store, connection, domain
from modeldeployment.render.template import Seat, Template
from modeldeployment.render.weights import WEIGHTS_PATHS, WeightsRefusal
from modeldeployment.router import BOOTSTRAP_PORT, KV_EVENTS_PORT, KV_EVENTS_REPLAY_PORT, RouterRendering, Standing
from modeldeployment.router import endpoint as router_endpoint

__all__ = [
    "BOOTSTRAP_PORT",
    "DEFAULT_GRACE",
    "DEFAULT_PORT",
    "DTYPE_FLAG",
    "ENGINES",
    "KV_EVENTS_PORT",
    "KV_EVENTS_REPLAY_PORT",
    "MAKERS",
    "MEMBER_VARIABLES",
    "NO_EVENTS",
    "SERVED_MODEL_NAME",
    "TRANSPORTS",
    "WEIGHTS_PATHS",
    "Backend",
    "Clash",
    "ContainerPort",
    "Degree",
    "DegreeTable",
    "Degrees",
    "Delivery",
    "Domain",
    "Engine",
    "Facts",
    "Failure",
    "Floor",
    "Gauges",
    "Given",
    "Listener",
    "LoadBalance",
    "Maker",
    "Notice",
    "Placed",
    "Policy",
    "RenderError",
    "RenderRefusal",
    "Rendering",
    "RoleRendering",
    "RouterRendering",
    "RuntimeVersionSkew",
    "Seat",
    "Signals",
    "Standing",
    "Store",
    "Template",
    "Unreadable",
    "Use",
    "WeightsRefusal",
    "connection",
    "degrees",
    "domain",
    "encoding",
    "fabric",
    "listener",
    "render",
    "reserved_ports",
    "router_endpoint",
    "transfer_transport",
]
