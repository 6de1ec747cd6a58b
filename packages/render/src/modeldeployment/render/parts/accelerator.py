"""What a Pod asks of its node. Source: facts rendering §12."""

from typing import Any

from modeldeployment.render.compose import Fragment
from modeldeployment.render.context import Context
from modeldeployment.render.parts.places import MAIN, SPEC


def accelerator(context: Context) -> Fragment:
    """Set limits and requests, and the runtime class of the accelerator where the cluster has it."""
    resources = context.resources
    placed: dict[tuple[str, ...], Any] = {
        (*MAIN, "resources", "limits"): resources.limits,
        (*MAIN, "resources", "requests"): resources.requests,
    }
    if resources.runtime_class in context.facts.runtime_classes:
        placed[*SPEC, "runtimeClassName"] = resources.runtime_class
    return placed
