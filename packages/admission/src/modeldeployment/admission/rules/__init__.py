"""The refusal tables."""

from modeldeployment.admission.rules import deployments, scalers

DEPLOYMENTS = deployments.RULES
SCALERS = scalers.RULES
