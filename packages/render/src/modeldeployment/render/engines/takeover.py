"""The Parts of a role whose user took over the command line, on every engine.

What is missing against an engine's own list is what needs a known command line: arguments, probes, scraping and drain.
Source: spec 1 §The three override tiers, facts rendering §14 A6.
"""

from typing import Final

from modeldeployment.render.engine import Part
from modeldeployment.render.parts.accelerator import accelerator
from modeldeployment.render.parts.arguments import taken_over
from modeldeployment.render.parts.environment import member_environment, user_environment
from modeldeployment.render.parts.identity import fingerprint, group, identity, shape
from modeldeployment.render.parts.overlay import overlay, stated_grace
from modeldeployment.render.parts.serving import ports
from modeldeployment.render.parts.topology import topology
from modeldeployment.render.parts.volumes import additional_volumes
from modeldeployment.render.parts.weights import weights_volume

TAKE_OVER: Final[tuple[Part, ...]] = (
    identity,
    group,
    topology,
    fingerprint,
    shape,
    taken_over,
    user_environment,
    member_environment,
    ports,
    accelerator,
    stated_grace,
    additional_volumes,
    weights_volume,
    overlay,
)
