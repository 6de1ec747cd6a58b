"""Names of what a deployment owns, all of which must be names Kubernetes accepts, and no two alike."""

import re
from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.examples import Example
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import DeploymentReview, RoleReview
from modeldeployment.admission.verdict import Cause, Refusal, brief
from modeldeployment.api import names

LONGEST: Final = 63
"""Characters in a DNS label."""

_SHOWN: Final = 80
"""Characters of a name that does not fit that are shown: enough to see where it stops fitting."""

_SERVICE: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_HOSTNAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_ROUTER_SUFFIX: Final = names.router("").removeprefix("-")


def _unfit(name: str, what: str, pattern: re.Pattern[str], spelled: str) -> str | None:
    """Why `name` is no valid `what`, with its length; None where it is one."""
    fits, matches = len(name) <= LONGEST, pattern.fullmatch(name)
    if fits and matches:
        return None
    too_long = "" if fits else f", and at most {LONGEST} characters fit"
    misspelled = "" if matches else f", and {spelled}"
    return f'"{brief(name, _SHOWN)}" is not a valid {what}: it has {len(name)} characters{too_long}{misspelled}'


def _no_service(name: str) -> str | None:
    return _unfit(
        name,
        "Service name",
        _SERVICE,
        "a DNS-1035 label is a lowercase letter followed by lowercase letters, digits and dashes, without dots",
    )


def _way_out(deployment: str, shorten: str) -> str:
    if _SERVICE.fullmatch(deployment):
        return shorten
    return "give the deployment a name that starts with a letter and has no dots"


@row(
    trigger=Example({"metadata.name": "q" * 57, "spec.roles[0].name": "serve", "spec.router": {"name": "vllm-router"}}),
    near_miss=Example({"metadata.name": "q" * 56, "spec.roles[0].name": "s", "spec.router": {"name": "vllm-router"}}),
)
def deployment_service_unnameable(review: DeploymentReview) -> Iterator[Refusal]:
    """MD048 | metadata.name, spec.router | A deployment's own Service, and its router's, need valid Service names.

    The deployment's Service is called `<deployment>`, and with a router there is also `<deployment>-router`. A Service
    name is a DNS-1035 label: at most 63 characters, lowercase letters, digits and dashes, a letter first, no dots. A
    stored deployment is left alone, and so is the router it already has.

    Way out: another name for the deployment, or no router. Source: decisions D32.
    """
    if not review.name:  # the API server has yet to make one up
        return
    if review.creating and (why := _no_service(review.name)):
        yield Refusal(
            "MD048",
            "metadata.name",
            review.name,
            why=f"the Service in front of the deployment has its name, and {why}",
            way_out=_way_out(review.name, "shorten the deployment's name"),
        )
        return
    added = review.old is None or review.old.spec.router is None
    if review.router and added and (why := _no_service(names.router(review.name))):
        yield Refusal(
            "MD048",
            "spec.router",
            review.router.name.value,
            why=f"the Service in front of the router is named after the deployment, and {why}",
            way_out=f"{_way_out(review.name, 'shorten the name of the deployment')}, or leave spec.router out"
            if review.creating
            else "leave spec.router out, or create another deployment, with a name that suits both Services",
        )


@row(
    trigger=Example({"spec.roles[0].name": "s" * 55}),
    near_miss=Example({"spec.roles[0].name": "s" * 54}),
)
def role_service_unnameable(review: DeploymentReview) -> Iterator[Refusal]:
    """MD003 | spec.roles[*].name | The Service of a role, `<deployment>-<role>`, needs a valid Service name.

    A Service name is a DNS-1035 label: at most 63 characters, lowercase letters, digits and dashes, a letter first, no
    dots. A role that the stored deployment already had is left alone.

    Way out: a shorter role or deployment, or a deployment name without dots. Source: spec 1 §Admission refusals.
    """
    if not review.name:
        return
    for each in review.roles:
        if each.old is None and (why := _no_service(names.role_service(review.name, each.role.name))):
            yield Refusal(
                "MD003",
                f"{each.path}.name",
                each.role.name,
                why=f"the Service in front of the role is named after deployment and role, and {why}",
                way_out=_way_out(review.name, "shorten the role's name, or the deployment's"),
            )


@row(
    trigger=Example({"spec.roles[0].name": "router", "spec.router": {"name": "vllm-router"}}),
    near_miss=Example({"spec.roles[0].name": "router"}),
)
def services_collide(review: DeploymentReview) -> Iterator[Refusal]:
    """MD004 | spec.roles[*].name | No two Services of a deployment may be named alike.

    With a router there is `<deployment>-router`; every role has `<deployment>-<role>`; and each replica of a role of
    several Pods has `<deployment>-<role>-r<ordinal>`. So a role named `router` collides with the router, and a role
    named `x-r0` with replica 0 of a role `x` of size 2. Judged on every edit, because `replicas` decides how many
    Services there are.

    Way out: another role name, or fewer replicas. Source: spec 1 §Admission refusals, facts admission §4.
    """
    first: dict[str, RoleReview] = {}
    for each in review.roles:
        first.setdefault(each.role.name, each)
    if review.router and (fronted := first.get(_ROUTER_SUFFIX)):
        yield _collision(
            names.router(review.name),
            fronted,
            f'the Service in front of role "{fronted.role.name}" and the Service fronting the managed router of '
            "spec.router",
            "give the role another name, or leave spec.router out"
            if review.creating
            else "leave spec.router out, or create another deployment, with another name for the role",
        )
    for each in first.values():
        stem, _, ordinal = each.role.name.rpartition("-r")
        owner = first.get(stem)
        if owner is None or owner.role.size == 1 or not _is_ordinal(ordinal, owner.role.replicas):
            continue
        fewer = f'keep "{stem}" at {ordinal} replicas or fewer' if ordinal != "0" else ""
        rename = "give one of the two roles another name"
        yield _collision(
            names.replica_service(review.name, stem, int(ordinal)),
            max(each, owner, key=lambda claimant: claimant.index),
            f'the Service in front of role "{each.role.name}" ({each.path}) and the headless Service of replica '
            f'{ordinal} of role "{stem}" ({owner.path})',
            fewer if fewer and not review.creating else f"{rename}, or {fewer}" if fewer else rename,
        )


def _is_ordinal(text: str, replicas: int) -> bool:
    """Whether `text` is how the ordinal of one of so many replicas is written."""
    return text.isascii() and text.isdecimal() and (text == "0" or text[0] != "0") and int(text) < replicas


def _collision(service: str, later: RoleReview, claimants: str, way_out: str) -> Refusal:
    return Refusal(
        "MD004",
        f"{later.path}.name",
        later.role.name,
        why=f'two Services would be named "{service}": {claimants}',
        way_out=way_out,
        cause=Cause.DUPLICATE,
    )


@row(
    trigger=Example({"metadata.name": "d" * 40, "spec.roles[0].name": "r" * 20, "spec.roles[0].size": 2}),
    near_miss=Example({"metadata.name": "d" * 40, "spec.roles[0].name": "r" * 20, "spec.roles[0].size": 1}),
)
def members_unnameable(review: DeploymentReview) -> Iterator[Refusal]:
    """MD005 | spec.roles[*] | Every member of a replica of several Pods needs a name that is a hostname.

    Above size 1 the Pods are called `<deployment>-<role>-r<ordinal>-m<member>`, and each is addressed by that name. A
    hostname is a DNS-1123 label: at most 63 characters, lowercase letters, digits and dashes. The longest name that
    `replicas` and `size` produce must fit. Judged on every edit, because more replicas make longer names.

    Way out: a shorter role, a shorter deployment, or fewer replicas. Source: spec 1 §Admission refusals.
    """
    if not review.name:
        return
    for each in review.roles:
        role = each.role
        if role.size == 1:
            continue
        longest = names.member_pod(review.name, role.name, role.replicas - 1, role.size - 1)
        why = _unfit(
            longest, "hostname", _HOSTNAME, "a DNS-1123 label is lowercase letters, digits and dashes, without dots"
        )
        if why:
            yield Refusal(
                "MD005",
                each.path,
                role.name,
                why=f"the members of a replica are addressed by name, and the longest one, {why}",
                way_out="shorten the role's name, shorten the deployment's name, or declare fewer replicas",
            )


RULES: Final[tuple[Row[Any, Any], ...]] = (
    deployment_service_unnameable,
    role_service_unnameable,
    services_collide,
    members_unnameable,
)
