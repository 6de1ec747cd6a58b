"""A deployment and the facts of a cluster, rendered into Pods and Services.

`render` takes a `ModelDeployment` and the `Facts` looked up for it and answers a `Rendering`: one `RoleRendering` per
role, the `services`, the `endpoint` and `notices`. A role is rendered once into a `Template`; `seats` lists its
`Seat`s, and for each the template gives the Pod's `body`, its `fingerprint` and its pod `group`. What cannot be
rendered raises `RenderRefusal`.

`ENGINES` and `MAKERS` are the closed catalogues behind it.
"""

from modeldeployment.render.compose import Clash, Placed, Standing
from modeldeployment.render.engine import Engine, Gauges
from modeldeployment.render.engines import ENGINES
from modeldeployment.render.errors import RenderError, RenderRefusal
from modeldeployment.render.facts import Facts, Policy
from modeldeployment.render.image import RuntimeVersionSkew
from modeldeployment.render.makers import MAKERS, Maker
from modeldeployment.render.rendering import Notice, Rendering, RoleRendering, render
from modeldeployment.render.template import Seat, Template

__all__ = [
    "ENGINES",
    "MAKERS",
    "Clash",
    "Engine",
    "Facts",
    "Gauges",
    "Maker",
    "Notice",
    "Placed",
    "Policy",
    "RenderError",
    "RenderRefusal",
    "Rendering",
    "RoleRendering",
    "RuntimeVersionSkew",
    "Seat",
    "Standing",
    "Template",
    "render",
]
