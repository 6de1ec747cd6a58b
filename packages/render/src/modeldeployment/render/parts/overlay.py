"""The role's own Pod fields, over what the operator renders.

Source: spec 1 §The three override tiers, facts rendering §8.
"""

from typing import Any

from modeldeployment.render.compose import Fragment, FromUser
from modeldeployment.render.context import Context
from modeldeployment.render.parts.places import MAIN, SPEC


def overlay(context: Context) -> Fragment:
    """Set the image, its pull policy and secrets, and privilege."""
    role, image = context.role, context.image
    placed: dict[tuple[str, ...], Any] = {
        (*MAIN, "image"): FromUser(image.reference) if image.stated else image.reference
    }
    if role.image_pull_policy:
        placed[*MAIN, "imagePullPolicy"] = FromUser(role.image_pull_policy.value)
    if role.image_pull_secrets:
        placed[*SPEC, "imagePullSecrets"] = FromUser([{"name": secret.name} for secret in role.image_pull_secrets])
    if role.privileged:
        placed[*MAIN, "securityContext"] = FromUser({"privileged": True})
    return placed


def stated_grace(context: Context) -> Fragment:
    """Set the grace period of a take-over role, only where it is written."""
    stated = context.role.termination_grace_period_seconds
    return {} if stated is None else {(*SPEC, "terminationGracePeriodSeconds"): FromUser(stated)}
