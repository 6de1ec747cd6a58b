"""The refusal table of ModelDeployment, by subject."""

from typing import Any, Final

from modeldeployment.admission.rule import Row
from modeldeployment.admission.rules.deployments import (
    commits,
    degrees,
    elastic,
    encode,
    fabric,
    fence,
    identity,
    naming,
    owned,
    required,
    resources,
    routing,
    serving,
    shape,
    sharing,
    volumes,
)

RULES: Final[tuple[Row[Any, Any], ...]] = (
    *shape.RULES,
    *encode.RULES,
    *naming.RULES,
    *required.RULES,
    *identity.RULES,
    *resources.RULES,
    *sharing.RULES,
    *fabric.RULES,
    *elastic.RULES,
    *owned.RULES,
    *degrees.RULES,
    *serving.RULES,
    *routing.RULES,
    *volumes.RULES,
    *fence.RULES,
    *commits.RULES,
)
