"""What is written into a submitted object before it is judged (facts admission §3).

Defaulting runs before the schema is looked at, so it passes over whatever has not the shape it expects.
"""

from modeldeployment.admission.defaulting import deployments, scalers
from modeldeployment.admission.defaulting.outcome import Defaulted

__all__ = ["Defaulted", "deployments", "scalers"]
