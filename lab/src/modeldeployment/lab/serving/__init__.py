"""Programs for the Pods of a control plane whose kubelet is fake: engines, routers, and how they leave.

`Serving` plays the Pods of one namespace: each gets an address at which a fake engine or the real router listens, is
ready when that is, and leaves as its rendered preStop hook and grace period say. `given_back` waits until new
Pods are kwok's again, `hook` is that hook as it runs here.
"""

from modeldeployment.lab.serving.errors import NotServed, PolicyIgnored, ServingError
from modeldeployment.lab.serving.hooks import hook
from modeldeployment.lab.serving.kubelet import Serving
from modeldeployment.lab.serving.policies import given_back

__all__ = ["NotServed", "PolicyIgnored", "Serving", "ServingError", "given_back", "hook"]
