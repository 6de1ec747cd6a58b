"""Defaults, refusals and warnings for ModelDeployments and their scalers.

`review` judges the write of one object with the `Facts` looked up for it and answers a `Verdict`: the object with its
defaults, every `Refusal` and every `Caution`. `from_manifests` makes facts of objects at hand; the rows behind it all
are in `rules` and `lints`, and `catalogue` prints their pages.
"""

from modeldeployment.admission.facts import Actor, Cache, Facts, Needs, Policy
from modeldeployment.admission.gathering import from_manifests
from modeldeployment.admission.reviewing import REVIEWED, review
from modeldeployment.admission.rule import Row
from modeldeployment.admission.verdict import Cause, Caution, Finding, Refusal, Unready, Verdict

__all__ = [
    "REVIEWED",
    "Actor",
    "Cache",
    "Cause",
    "Caution",
    "Facts",
    "Finding",
    "Needs",
    "Policy",
    "Refusal",
    "Row",
    "Unready",
    "Verdict",
    "from_manifests",
    "review",
]
