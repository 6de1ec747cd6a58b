"""Which image a router's container runs, and when it is pulled. Source: facts router-rendering §2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldeployment.api.choices import PullPolicy

if TYPE_CHECKING:
    from modeldeployment.api.modeldeployment import Router


def pull_policy(router: Router, image: str) -> str:
    """Answer the user's policy, else what the kubelet itself takes for a reference: Always only for a moving tag."""
    if router.image_pull_policy is not None:
        return router.image_pull_policy.value
    return (PullPolicy.ALWAYS if _moves(image) else PullPolicy.IF_NOT_PRESENT).value


def _moves(image: str) -> bool:
    """Whether a reference has neither a digest nor a tag other than `latest`."""
    # A colon before the last slash belongs to a registry's port; one of a digest leads to no moving tag.
    tag = image.rpartition("/")[2].partition(":")[2]
    return tag in ("", "latest")
