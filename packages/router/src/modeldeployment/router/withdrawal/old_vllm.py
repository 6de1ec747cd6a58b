"""How `vllm-router` 0.1.15 and 0.1.16 are shown to have let go of a member. Source: facts routers-measured §2, §7.

They behave as SGLang's gateway does, with one thing worse: a pair's request is sent to its decode half once the prefill
half is done, and nothing tells that it is on its way.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from modeldeployment.api.choices import RoleKind
from modeldeployment.router.withdrawal import removing, unbroken
from modeldeployment.router.withdrawal.asking import LIST, Heard, State, Step, Subject


def withdraw(state: State | None, heard: Sequence[Heard], subject: Subject, now: datetime) -> Step:
    """Say what follows, on the way to a router that sends the member nothing more; of a Decode it is never known."""
    if subject.paired and subject.kind is RoleKind.DECODE:
        why = (
            f"does not tell whether requests are on their way to {subject.name}, a decode half; "
            "run vllm-router 0.1.17 or later"
        )
        return unbroken.impossible(unbroken.begun(state, now), subject, why, (LIST,))
    return removing.withdraw(removing.OLD_VLLM, state, heard, subject, now)


def restore(state: State | None, heard: Sequence[Heard], subject: Subject, now: datetime) -> Step:
    """Say what follows, on the way to a router that sends it requests again."""
    return removing.restore(removing.OLD_VLLM, state, heard, subject, now)
