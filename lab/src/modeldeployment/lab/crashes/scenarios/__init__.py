"""The scenarios: each a start, what people do, and how it ends."""

from typing import Final

from modeldeployment.lab.crashes.scenarios.changing import CHANGING
from modeldeployment.lab.crashes.scenarios.coming import COMING
from modeldeployment.lab.crashes.scenarios.joining import JOINING
from modeldeployment.lab.crashes.scenarios.losing import LOSING
from modeldeployment.lab.crashes.scenarios.scenario import Ends, Scenario

SCENARIOS: Final[tuple[Scenario, ...]] = (*COMING, *CHANGING, *LOSING, *JOINING)
"""All of them, in the order of the table."""

__all__ = ["SCENARIOS", "Ends", "Scenario"]
