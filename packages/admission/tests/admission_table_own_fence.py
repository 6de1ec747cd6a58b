"""Our own rows for the binding fence (facts api-scaler §4, decisions D35)."""

from collections.abc import Mapping
from typing import Any, Final

from admission_case import Case, Refused
from modeldeployment.admission.claims import BINDING, DECISION
from modeldeployment.admission.examples import Change
from modeldeployment.admission.facts import Actor

UID: Final = "5f7c2f6e-5a0b-4a7f-9d7c-2f2b1f7f0a11"
"""UID of the scaler in the cluster, where a row says that it is still there."""

LIVE: Final = {"qwen-72b": {"metadata.uid": UID}}
REPLACED: Final = {"qwen-72b": {"metadata.uid": "c0ffee00-5a0b-4a7f-9d7c-2f2b1f7f0a11"}}
UNREADABLE: Final = {BINDING: "qwen-72b"}
SPOILT: Final = {BINDING: f'{{"scalerName":"qwen-72b","scalerUID":"{UID}","term":0}}'}
FIVE: Final = {"spec.roles[0].replicas": 5}
TWO_ROLES: Final = {
    "spec.roles[1]": {"name": "canary", "replicas": 1, "instanceType": "h20-8x", "resources": {"accelerator": 1}}
}


def bound(term: int = 3, scaler: str = "qwen-72b", uid: str = UID) -> dict[str, Any]:
    return {BINDING: f'{{"scalerName":"{scaler}","scalerUID":"{uid}","term":{term}}}'}


def decided(term: int = 3, decision: str = "d-2", **vector: int) -> dict[str, Any]:
    counts = ",".join(f'"{role}":{count}' for role, count in vector.items())
    return {DECISION: f'{{"decisionID":"{decision}","term":{term},"vector":{{{counts}}}}}'}


def user(name: str, new: Change, *refused: Refused, old: Change | None, known: Mapping[str, Any] = LIVE) -> Case:
    return Case(name, new, old, refused, known=known)


def operator(name: str, new: Change, *refused: Refused, old: Change | None) -> Case:
    return Case(name, new, old, refused, actor=Actor.OPERATOR)


NOT_YOURS: Final = Refused("MD050", BINDING, ("scaler-binding", "operator"))
NOT_YOURS_EITHER: Final = Refused("MD050", DECISION, ("scaler-decision", "operator"))
COUNTED: Final = Refused(
    "MD041",
    "spec.roles[0].replicas",
    ("qwen-72b", "server", "from 4 to 5", "minReplicas", "maxReplicas", "suspend", "delete", "GitOps"),
)
STILL_THERE: Final = Refused("MD053", BINDING, ("qwen-72b", "UID", "suspend", "delete"))

APPLIED: Final = {
    "metadata.managedFields": [
        {
            "manager": manager,
            "time": time,
            "fieldsV1": {"f:spec": {"f:roles": {'k:{"name":"server"}': {"f:name": {}, field: {}}}}},
        }
        for manager, time, field in (
            ("argocd-controller", "2030-01-01T00:00:00Z", "f:replicas"),
            ("editor", "2030-01-02T00:00:00Z", "f:image"),
        )
    ]
}
"""Argo CD has written the count of `server`, and somebody else something else after it."""

COUNTS: Final = (
    user("NF1-counts-of-a-bound-deployment", bound() | FIVE, COUNTED, old=bound()),
    user(
        "NF1-who-restores-counts-is-named",
        bound() | FIVE | APPLIED,
        Refused("MD041", "spec.roles[0].replicas", ("this write by argocd-controller changes server from 4 to 5",)),
        old=bound(),
    ),
    user(
        "NF1-count-left-out",
        bound() | {"spec.roles[0]": {"name": "server", "instanceType": "h20-8x", "resources": {"accelerator": 1}}},
        Refused("MD041", "spec.roles[0].replicas", ("from 4 to 1",)),
        old=bound(),
    ),
    user(
        "NF1-two-roles",
        bound() | TWO_ROLES | FIVE | {"spec.roles[1].replicas": 2},
        COUNTED,
        Refused("MD041", "spec.roles[1].replicas", ("canary", "from 1 to 2")),
        old=bound() | TWO_ROLES,
    ),
    user("NF2-anything-else", bound() | {"spec.roles[0].extraArgs": ["--max-model-len=4096"]}, old=bound()),
    user("NF2-labels", bound() | {"metadata.labels": {"team": "a"}}, old=bound()),
    user("NF2-as-stored", bound() | decided(server=4), old=bound() | decided(server=4)),
    user("NF3-counts-of-an-unbound-deployment", FIVE, old={}),
    user("NF3-counts-beside-a-decision-that-stayed", decided(server=4) | FIVE, old=decided(server=4)),
    user("NF3-counts-beside-an-unreadable-binding", UNREADABLE | FIVE, old=UNREADABLE),
    user("NF3-counts-beside-a-binding-without-a-term", SPOILT | FIVE, old=SPOILT),
    user(
        "NF3-an-object-on-its-way-out",
        bound() | FIVE | {"metadata.deletionTimestamp": "2030-01-01T00:00:00Z"},
        old=bound() | {"metadata.finalizers": ["gpustack.ai/controlled"]},
    ),
)

ANNOTATIONS: Final = (
    user("NF4-created-with-a-binding", bound(), NOT_YOURS, old=None),
    user("NF4-created-with-both", bound() | decided(server=4), NOT_YOURS, NOT_YOURS_EITHER, old=None),
    user("NF4-created-with-nonsense", UNREADABLE, NOT_YOURS, old=None),
    user("NF5-binding-added", bound(), NOT_YOURS, old={}),
    user("NF5-decision-added", decided(server=4), NOT_YOURS_EITHER, old={}),
    user("NF5-binding-changed", bound(4), NOT_YOURS, old=bound(3)),
    user("NF5-decision-changed", bound() | decided(server=5), NOT_YOURS_EITHER, old=bound() | decided(server=4)),
    user("NF5-decision-removed", bound(), NOT_YOURS_EITHER, old=bound() | decided(server=4)),
    user("NF5-decision-without-a-binding-removed", {}, NOT_YOURS_EITHER, old=decided(server=4)),
    user("NF5-counts-and-decision", bound() | decided(server=5) | FIVE, NOT_YOURS_EITHER, COUNTED, old=bound()),
)

RECOVERY: Final = (
    user("NF6-the-scaler-is-there", {}, STILL_THERE, old=bound()),
    user("NF6-the-scaler-is-gone", {}, old=bound(scaler="gone")),
    user("NF6-another-scaler-of-that-name", {}, old=bound(), known=REPLACED),
    user("NF6-with-the-decision", {}, old=bound(scaler="gone") | decided(server=4)),
    user("NF6-the-decision-stays", decided(server=4), old=bound(scaler="gone") | decided(server=4)),
    user(
        "NF6-with-another-decision",
        decided(server=5),
        NOT_YOURS_EITHER,
        old=bound(scaler="gone") | decided(server=4),
    ),
    user("NF7-with-counts", FIVE, COUNTED, old=bound(), known=REPLACED),
    user("NF7-replaced-instead", bound(4, uid="other"), NOT_YOURS, old=bound(scaler="gone")),
    user("NF8-unreadable", {}, old=UNREADABLE),
    user("NF8-without-a-term", {}, old=SPOILT),
    user(
        "NF8-unreadable-with-counts",
        FIVE,
        Refused("MD053", BINDING, ("cannot be read", "server", "as it is")),
        old=UNREADABLE,
    ),
    user("NF8-unreadable-replaced", bound(), NOT_YOURS, old=UNREADABLE),
    user(
        "NF8-on-its-way-out",
        {"metadata.deletionTimestamp": "2030-01-01T00:00:00Z"},
        old=bound() | {"metadata.finalizers": ["gpustack.ai/controlled"]},
    ),
)

TERMS: Final = (
    operator("NF9-first-binding", bound(1), old={}),
    operator("NF9-created-with-a-binding", bound(1), old=None),
    operator("NF9-next-term", bound(4), old=bound(3)),
    operator("NF9-as-stored", bound(3), old=bound(3)),
    operator("NF9-unreadable-replaced", bound(1), old=UNREADABLE),
    operator("NF9-released", decided(server=4), old=bound() | decided(server=4)),
    operator("NF10-term-of-zero", SPOILT, Refused("MD051", BINDING, ("term of 1 or more",)), old={}),
    operator("NF10-term-going-back", bound(2), Refused("MD051", BINDING, ("term 2", "term 3")), old=bound(3)),
    operator(
        "NF10-term-behind-the-last-decision",
        bound(2) | decided(3, server=4),
        Refused("MD051", BINDING, ("term 2", "term 3")),
        old=decided(3, server=4),
    ),
    operator(
        "NF11-taken-over-by-another-scaler",
        bound(4, scaler="other", uid="other-uid"),
        Refused("MD054", BINDING, ("qwen-72b", "other", "AlreadyBound")),
        old=bound(3),
    ),
)

COMMITS: Final = (
    operator("NF12-counts-with-their-decision", bound() | decided(server=5) | FIVE, old=bound()),
    operator("NF12-bound-and-committed-at-once", bound(4) | decided(4, server=5) | FIVE, old={}),
    operator(
        "NF12-the-next-commit",
        bound() | decided(server=5, decision="d-3") | FIVE,
        old=bound() | decided(server=4, decision="d-2"),
    ),
    operator("NF12-a-decision-to-keep-the-counts", bound() | decided(server=4), old=bound()),
    operator("NF12-counts-of-an-unbound-deployment", FIVE, old={}),
    operator(
        "NF13-counts-alone",
        bound() | FIVE,
        Refused("MD052", DECISION, ("counts", "without the decision")),
        old=bound(),
    ),
    operator(
        "NF13-counts-beside-the-decision-before",
        bound() | decided(server=4) | FIVE,
        Refused("MD052", DECISION, ("without the decision",)),
        old=bound() | decided(server=4),
    ),
    operator("NF13-counts-while-releasing", FIVE, Refused("MD052", DECISION, ("without",)), old=bound()),
    operator(
        "NF14-another-vector",
        bound() | decided(server=6) | FIVE,
        Refused("MD052", DECISION, ("server 6 for 5",)),
        old=bound(),
    ),
    operator(
        "NF14-a-role-the-vector-leaves-out",
        bound() | TWO_ROLES | decided(server=5) | FIVE,
        Refused("MD052", DECISION, ("canary none for 1",)),
        old=bound() | TWO_ROLES,
    ),
    operator(
        "NF14-a-role-that-is-not-there",
        bound() | decided(server=5, router=1) | FIVE,
        Refused("MD052", DECISION, ("router 1 for no such role",)),
        old=bound(),
    ),
    operator(
        "NF15-another-term",
        bound(4) | decided(3, server=5) | FIVE,
        Refused("MD052", DECISION, ("term 3", "term 4")),
        old=bound(4),
    ),
    operator("NF15-without-a-binding", decided(server=5) | FIVE, Refused("MD052", DECISION, ("no binding",)), old={}),
    operator(
        "NF15-unreadable",
        bound() | {DECISION: "{}"} | FIVE,
        Refused("MD052", DECISION, ("decisionID", "vector")),
        old=bound(),
    ),
)

TABLE: Final[tuple[Case, ...]] = (*COUNTS, *ANNOTATIONS, *RECOVERY, *TERMS, *COMMITS)
