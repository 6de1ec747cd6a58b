"""Defaults, refusals and warnings for ModelDeployments and their scalers."""
