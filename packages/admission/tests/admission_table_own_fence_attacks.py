"""Our own rows for ways around the binding fence, and for every write of the operator that has to pass it."""

from typing import Any, Final

from admission_case import Case, Refused
from admission_table_own_fence import (
    COUNTED,
    FIVE,
    LIVE,
    NOT_YOURS,
    NOT_YOURS_EITHER,
    STILL_THERE,
    TWO_ROLES,
    UID,
    UNREADABLE,
    bound,
    decided,
    operator,
    user,
)
from modeldeployment.admission.claims import BINDING, DECISION
from modeldeployment.admission.examples import GONE

ROLE: Final = {"instanceType": "h20-8x", "resources": {"accelerator": 1}}
GATED: Final = {"metadata.finalizers": ["gpustack.ai/controlled"]}


def written(text: str) -> dict[str, Any]:
    return {BINDING: text}


def termed(term: str) -> dict[str, Any]:
    return written(f'{{"scalerName":"qwen-72b","scalerUID":"{UID}","term":{term}}}')


def roles(*named: tuple[str, int]) -> dict[str, Any]:
    return {"spec.roles": [{"name": name, "replicas": replicas, **ROLE} for name, replicas in named]}


def _owner(change: dict[str, Any]) -> dict[str, Any]:
    return {"qwen-72b": LIVE["qwen-72b"] | change}


RESPELT: Final = (
    user(
        "NF20-spaces", written(f'{{"scalerName": "qwen-72b", "scalerUID": "{UID}", "term": 3}}'), NOT_YOURS, old=bound()
    ),
    user("NF20-order", written(f'{{"term":3,"scalerUID":"{UID}","scalerName":"qwen-72b"}}'), NOT_YOURS, old=bound()),
    user("NF20-escapes", written(bound()[BINDING].replace("qwen", "\\u0071wen")), NOT_YOURS, old=bound()),
    user("NF20-a-member-more", written(bound()[BINDING].replace("}", ',"by":"me"}')), NOT_YOURS, old=bound()),
    user("NF20-a-second-term", written(bound()[BINDING].replace("}", ',"term":4}')), NOT_YOURS, old=bound()),
    user("NF20-emptied", written(""), NOT_YOURS, old=bound()),
    user("NF20-emptied-with-counts", written("") | FIVE, NOT_YOURS, COUNTED, old=bound()),
    user("NF20-spoilt-with-counts", UNREADABLE | FIVE, NOT_YOURS, COUNTED, old=bound()),
    user("NF20-added-empty", written(""), NOT_YOURS, old={}),
    user("NF20-created-empty", written(""), NOT_YOURS, old=None),
    user("NF20-decision-added-empty", bound() | {DECISION: ""}, NOT_YOURS_EITHER, old=bound()),
    user("NF20-a-key-that-looks-like-it", bound() | {f"{BINDING[:-1]}.v2]": "mine"}, old=bound()),
)

MOVED: Final = (
    user("NF21-reordered", bound() | roles(("canary", 1), ("server", 4)), old=bound() | TWO_ROLES),
    user(
        "NF21-reordered-with-counts-exchanged",
        bound() | roles(("canary", 4), ("server", 1)),
        Refused("MD041", "spec.roles[0].replicas", ("canary from 1 to 4",)),
        Refused("MD041", "spec.roles[1].replicas", ("server from 4 to 1",)),
        old=bound() | TWO_ROLES,
    ),
    user(
        "NF21-renamed-with-another-count",
        bound() | roles(("servers", 9)),
        Refused("MD033", "spec.roles", ("server",)),
        Refused("MD033", "spec.roles[0].name", ("servers",)),
        old=bound(),
    ),
    user(
        "NF21-null-for-the-count",
        bound() | {"spec.roles[0].replicas": None},
        Refused("MD041", "spec.roles[0].replicas", ("from 4 to 1",)),
        old=bound(),
    ),
    *(
        user(
            f"NF21-count-behind-the-amount-{amount}",
            bound() | FIVE | {"spec.roles[0].resources.interface": amount},
            Refused("MD906", "spec.roles[0].resources.interface", (amount,)),
            old=bound(),
        )
        for amount in ("0e100", "0e000", "0e0.5")
    ),
    user(
        "NF21-null-for-another-annotation", bound() | FIVE | {"metadata.annotations[team]": None}, COUNTED, old=bound()
    ),
    user("NF21-null-for-the-binding", {BINDING: None}, NOT_YOURS, old=bound()),
    user("NF21-created-with-null-for-the-binding", {BINDING: None}, NOT_YOURS, old=None),
    user("NF21-finalizer-taken-away", bound(), old=bound() | GATED),
    user("NF21-finalizer-taken-away-with-counts", bound() | FIVE, COUNTED, old=bound() | GATED),
    user("NF21-status-beside-counts", bound() | FIVE | {"status": {"phase": "Ready"}}, COUNTED, old=bound()),
    user(
        "NF21-annotations-taken-away-whole",
        {"metadata.annotations": GONE},
        STILL_THERE,
        old=bound() | decided(server=4),
    ),
    user(
        "NF21-annotations-taken-away-whole-with-counts",
        {"metadata.annotations": GONE} | FIVE,
        STILL_THERE,
        COUNTED,
        old=bound() | decided(server=4),
    ),
)

CLAIMED: Final = (
    user("NF22-a-suspended-scaler-still-owns", {}, STILL_THERE, old=bound(), known=_owner({"spec.suspend": True})),
    user("NF22-a-shadow-still-owns", {}, STILL_THERE, old=bound(), known=_owner({"spec.mode": "Shadow"})),
    user("NF22-put-back-after-a-release", bound() | decided(server=4), NOT_YOURS, old=decided(server=4)),
    user("NF22-counts-after-a-recovery", decided(server=4) | FIVE, old=decided(server=4)),
    user("NF22-unreadable-for-its-term", termed('"3"') | FIVE, old=termed('"3"')),
    user("NF22-unreadable-for-its-term-taken-away", {}, old=termed("3.0")),
)
"""Who owns is what the stored annotation says; whether its scaler plans at the moment is not asked."""

PASSING: Final = (
    operator("NF23-acquired-with-a-finalizer", bound(1) | GATED, old=GATED),
    operator("NF23-acquired-again-after-a-release", bound(4) | decided(server=4), old=decided(server=4)),
    operator(
        "NF23-another-scaler-after-a-recovery",
        bound(4, scaler="next", uid="n-1") | decided(server=4),
        old=decided(server=4),
    ),
    operator("NF23-both-taken-away", {}, old=bound() | decided(server=4)),
    operator(
        "NF23-two-roles-committed",
        bound() | TWO_ROLES | {"spec.roles[0].replicas": 6, "spec.roles[1].replicas": 2} | decided(server=6, canary=2),
        old=bound() | TWO_ROLES,
    ),
    operator(
        "NF23-restored-after-an-abort",
        bound() | decided(server=5, decision="d-3") | FIVE,
        old=bound() | decided(server=4) | {"spec.roles[0].replicas": 4},
    ),
    operator(
        "NF23-rolled-back",
        bound() | decided(server=4, decision="d-3"),
        old=bound() | decided(server=5) | FIVE,
    ),
    operator(
        "NF23-finalizer-of-a-bound-deployment", bound() | decided(server=4) | GATED, old=bound() | decided(server=4)
    ),
    operator(
        "NF23-let-go-of-on-its-way-out",
        {"metadata.deletionTimestamp": "2030-01-01T00:00:00Z"},
        old=bound() | GATED | {"metadata.deletionTimestamp": "2030-01-01T00:00:00Z"},
    ),
)


def _unread(name: str, term: str) -> Case:
    return operator(name, termed(term), Refused("MD051", BINDING, ("scalerUID", "term of 1 or more")), old={})


STALE: Final = (
    _unread("NF24-term-in-quotes", '"3"'),
    _unread("NF24-term-with-a-fraction", "3.0"),
    _unread("NF24-term-below-zero", "-3"),
    _unread("NF24-term-beyond-64-bits", "9223372036854775808"),
    _unread("NF24-term-that-is-true", "true"),
    operator("NF24-largest-term", termed("9223372036854775807"), old=bound()),
    operator(
        "NF24-term-back-as-the-decision-goes",
        bound(2),
        Refused("MD051", BINDING, ("term 2", "term 3")),
        old=decided(3, server=4),
    ),
    operator("NF24-spoilt-while-bound", UNREADABLE, Refused("MD051", BINDING, ("can be read",)), old=bound()),
    operator(
        "NF25-counts-as-the-decision-goes",
        bound() | FIVE,
        Refused("MD052", DECISION, ("without the decision",)),
        old=bound() | decided(server=4),
    ),
    operator(
        "NF25-counts-as-the-binding-comes",
        bound(1) | FIVE,
        Refused("MD052", DECISION, ("without the decision",)),
        old={},
    ),
    operator(
        "NF25-a-decision-while-releasing",
        decided(server=5) | FIVE,
        Refused("MD052", DECISION, ("no binding",)),
        old=bound(),
    ),
    operator(
        "NF25-a-vector-in-quotes",
        bound() | {DECISION: '{"decisionID":"d-2","term":3,"vector":{"server":"5"}}'} | FIVE,
        Refused("MD052", DECISION, ("vector",)),
        old=bound(),
    ),
    operator(
        "NF25-a-vector-in-a-list",
        bound() | {DECISION: '{"decisionID":"d-2","term":3,"vector":[5]}'} | FIVE,
        Refused("MD052", DECISION, ("vector",)),
        old=bound(),
    ),
)

TABLE: Final[tuple[Case, ...]] = (*RESPELT, *MOVED, *CLAIMED, *PASSING, *STALE)
