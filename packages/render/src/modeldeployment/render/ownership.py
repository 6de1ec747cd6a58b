"""Whose an object is and how it is found again: owner reference, resource note and selector labels.

Source: facts rendering §8 and §10, decisions D4 and D31.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from modeldeployment.api import keys

if TYPE_CHECKING:
    from modeldeployment.api.modeldeployment import ModelDeployment

_DEFAULT_NAMESPACE: Final = "default"
"""Where an object without a namespace goes, as with kubectl."""


def namespace(deployment: ModelDeployment) -> str:
    """Answer the namespace of a deployment and of everything it owns."""
    return deployment.metadata.namespace or _DEFAULT_NAMESPACE


def owner_references(deployment: ModelDeployment) -> list[dict[str, Any]]:
    """Answer the controller reference, without block-owner-deletion: a replica never holds up its owner's removal."""
    return [
        {
            "apiVersion": keys.API_VERSION,
            "kind": deployment.kind,
            "name": deployment.metadata.name,
            "uid": deployment.metadata.uid,
            "controller": True,
        }
    ]


def selector_labels(deployment: str, role: str) -> dict[str, str]:
    """Answer the three labels that say which role of which deployment a Pod belongs to."""
    return {keys.NAME: keys.NAME_VALUE, keys.INSTANCE: deployment, keys.COMPONENT: role}
