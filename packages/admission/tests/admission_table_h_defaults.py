"""Table H of facts admission §9: the accelerator count that admission writes.

What the mutating half alone does with these rows is in test_defaulting_deployments.
"""

from typing import Final

from admission_case import Case, Refused
from modeldeployment.admission.examples import GONE

_UNSET: Final = {"spec.roles[0].resources": GONE}
_FIRST: Final = "spec.roles[0].resources.accelerator"
_GONE: Final = {"h20-8x": None}
_DELETED: Final = "2026-01-02T03:04:05Z"

TABLE: Final = (
    Case("H1", _UNSET, defaulted={_FIRST: 1}),
    Case("H1-resources-present", {"spec.roles[0].resources": {"interface": 0}}, defaulted={_FIRST: 1}),
    Case("H1-null", {"spec.roles[0].resources": {"accelerator": None}}, defaulted={_FIRST: 1}),
    Case(
        "H2",
        {**_UNSET, "spec.roles[1]": {"name": "second", "instanceType": "h20-other"}},
        defaulted={_FIRST: 1, "spec.roles[1].resources.accelerator": 1},
    ),
    Case("H3-zero", {"spec.roles[0].resources": {"accelerator": 0}}, defaulted={_FIRST: 0}),
    Case("H3-four", {"spec.roles[0].resources": {"accelerator": 4}}, defaulted={_FIRST: 4}),
    Case("H4", {**_UNSET, "spec.roles[0].instanceType": "cpu"}, defaulted={"spec.roles[0].resources": None}),
    Case(
        "H5",
        _UNSET,
        known=_GONE,
        refused=(Refused("MD049", "spec.roles[0].instanceType", ("h20-8x",)),),
        defaulted={"spec.roles[0].resources": None},
    ),
    Case(
        "H6",
        {**_UNSET, "spec.roles[0].instanceType": ""},
        refused=(Refused("MD908", "spec.roles[0].instanceType"),),
        defaulted={"spec.roles[0].resources": None},
    ),
    Case(
        "H7",
        {**_UNSET, "metadata.deletionTimestamp": _DELETED},
        old={**_UNSET, "metadata.deletionTimestamp": _DELETED},
        known=_GONE,
        defaulted={"spec.roles[0].resources": None},
    ),
    Case(
        "H8",
        {**_UNSET, "spec.roles[0].instanceType": "h20-other"},
        old={},
        refused=(Refused("MD033", "spec.roles[0].instanceType"),),
        defaulted={_FIRST: 1},
    ),
)
