"""The roles as a set: how many, which kinds beside which.

Row 8 of the table, a kind that the engine cannot render, has no rule: every kind the schema takes renders on every
engine, and the schema refuses all others (decisions D46).
"""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.examples import Example
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import DeploymentReview
from modeldeployment.admission.verdict import Cause, Refusal
from modeldeployment.api import RoleKind
from modeldeployment.api.frozen import ADMITTED_ROLES as MOST


def _role(name: str, kind: RoleKind = RoleKind.SERVER) -> dict[str, Any]:
    return {"name": name, "kind": kind.value, "instanceType": "h20-8x"}


def _servers(count: int) -> list[dict[str, Any]]:
    return [_role(f"server-{index}") for index in range(count)]


@row(
    trigger=Example({"spec.roles": _servers(MOST + 1)}),
    near_miss=Example({"spec.roles": _servers(MOST)}),
)
def too_many_roles(review: DeploymentReview) -> Iterator[Refusal]:
    """MD001 | spec.roles | A deployment has at most ten roles.

    The bound is this operator's own shape limit, not one of Kubernetes or Kueue: every role renders its own replicas,
    Services and queue references, and all of them are admitted as one set.

    Way out: declare the further roles in another deployment. Source: spec 1 §Admission refusals.
    """
    count = len(review.roles)
    if count > MOST:
        yield Refusal(
            "MD001",
            "spec.roles",
            count,
            why=f"{count} roles are over this operator's own shape limit of {MOST}: every role renders its own "
            "replicas, Services and queue references",
            way_out=f"keep at most {MOST} roles here and declare the others in another deployment",
            cause=Cause.TOO_MANY,
        )


@row(
    trigger=Example({"spec.roles[1]": _role("server")}),
    near_miss=Example({"spec.roles[1]": _role("server-2")}),
)
def duplicate_name(review: DeploymentReview) -> Iterator[Refusal]:
    """MD002 | spec.roles[*].name | Two roles cannot share a name.

    A role's name is part of the name of each of its pod groups. A second role of that name would put its Pods into
    groups that are already full. The schema refuses this first, because roles are told apart by name.

    Way out: give each role a name of its own. Source: spec 1 §Admission refusals.
    """
    first: dict[str, int] = {}
    for each in review.roles:
        name = each.role.name
        if (other := first.setdefault(name, each.index)) == each.index:
            continue
        size = review.roles[other].role.size
        members = "a single member" if size == 1 else f"{size} members"
        yield Refusal(
            "MD002",
            f"{each.path}.name",
            name,
            why=f"duplicate of spec.roles[{other}].name: a replica of this role would join the pod group of a replica "
            f"of that one, a group that declares {members}",
            way_out="give each role a name of its own",
            cause=Cause.DUPLICATE,
        )


@row(
    trigger=Example({"spec.roles": [_role("server"), _role("prefill", RoleKind.PREFILL)]}),
    near_miss=Example({"spec.roles": [_role("decode", RoleKind.DECODE), _role("prefill", RoleKind.PREFILL)]}),
)
def server_beside_another_kind(review: DeploymentReview) -> Iterator[Refusal]:
    """MD006 | spec.roles[*].kind | A Server cannot stand beside a role of another kind.

    A server serves whole requests by itself, while the other kinds each serve one stage of a request; together they
    describe no arrangement. A role that names no kind is a Server.

    Way out: put the servers into a deployment of their own. Source: spec 1 §Admission refusals, decisions D1.
    """
    if RoleKind.SERVER not in review.kinds or len(review.kinds) == 1:
        return
    server = next(review.of_kind(RoleKind.SERVER))
    staged = next(each for each in review.roles if each.role.kind is not RoleKind.SERVER)
    for each in review.roles:
        kind = each.role.kind
        other = staged if kind is RoleKind.SERVER else server
        yield Refusal(
            "MD006",
            f"{each.path}.kind",
            kind.value,
            why=f"a server serves whole requests alone, so {kind} cannot be combined with another kind: role "
            f'"{other.role.name}" ({other.path}) is a {other.role.kind}',
            way_out="declare the Server roles in a deployment of their own, or give every role here a kind of its own "
            "other than Server",
        )


@row(
    trigger=Example({"spec.roles": [_role("prefill-a", RoleKind.PREFILL), _role("prefill-b", RoleKind.PREFILL)]}),
    near_miss=Example({"spec.roles": [_role("prefill", RoleKind.PREFILL), _role("decode", RoleKind.DECODE)]}),
)
def kind_declared_twice(review: DeploymentReview) -> Iterator[Refusal]:
    """MD007 | spec.roles[*].kind | Prefill, Decode and Encode can each be declared by one role only.

    Two servers are a set of equals. Nothing that reads these roles expresses a second prefiller, decoder or encoder, so
    its replicas could not be reached.

    Way out: raise `replicas` of the role that is there. Source: spec 1 §Prefill and decode.
    """
    first: dict[RoleKind, str] = {}
    for each in review.roles:
        name, kind = each.role.name, each.role.kind
        if kind is RoleKind.SERVER or (other := first.setdefault(kind, name)) == name:
            continue
        yield Refusal(
            "MD007",
            f"{each.path}.kind",
            kind.value,
            why=f'kind {kind} is already declared by role "{other}", and nothing downstream reaches a second one',
            way_out=f'raise replicas of "{other}", or declare this role in another deployment',
        )


RULES: Final[tuple[Row[Any, Any], ...]] = (
    too_many_roles,
    duplicate_name,
    server_beside_another_kind,
    kind_declared_twice,
)
