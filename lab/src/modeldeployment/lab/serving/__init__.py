"""Processes for the Pods of a control plane whose kubelet is fake: engines, routers, and how they leave."""

from modeldeployment.lab.serving.hooks import hook

__all__ = ["hook"]
