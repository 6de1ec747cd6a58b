"""What several lints see in a role: its maker, its pair, its engine version."""

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from modeldeployment.admission.subjects import DeploymentReview, RoleReview
from modeldeployment.api import RoleKind
from modeldeployment.api.choices import EngineName
from modeldeployment.render import MAKERS

ASCEND: Final = MAKERS["ascend"].name

_SHELLS: Final = frozenset({"sh", "bash", "ash", "dash", "zsh", "ksh", "busybox"})
_NUMBERS: Final = r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:[-.]?rc(\d{1,4}))?"
_VERSION: Final = re.compile(rf"v?{_NUMBERS}")
_TAGGED: Final = re.compile(rf"(?:vllm|sglang)(?:[a-z-]{{0,16}}:v?)?{_NUMBERS}")


class Version(NamedTuple):
    """A release of an engine, in the order releases come; `candidate` sorts before the release itself."""

    major: int
    minor: int
    patch: int
    released: int
    candidate: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}" + ("" if self.released else f"rc{self.candidate}")


@dataclass(frozen=True, slots=True)
class Stated:
    """A version somebody wrote, and the field it stands in."""

    field: str
    text: str
    version: Version


def maker(review: DeploymentReview, role: RoleReview) -> str:
    """Who made the cards the role runs on; empty where its type is unknown or has not observed them."""
    found = review.instance_type(role)
    return found.status.detail.manufacturer if found else ""


def halves(review: DeploymentReview) -> tuple[RoleReview, RoleReview] | None:
    """The Prefill and the Decode role of a declared pair."""
    prefill = next(review.of_kind(RoleKind.PREFILL), None)
    decode = next(review.of_kind(RoleKind.DECODE), None)
    return (prefill, decode) if prefill and decode else None


def on_ascend(review: DeploymentReview, roles: tuple[RoleReview, ...]) -> bool:
    """Whether every one of the roles is known to run vLLM on Ascend."""
    return review.engine.name is EngineName.VLLM and all(maker(review, role) == ASCEND for role in roles)


def starts_shell(role: RoleReview) -> bool:
    """Whether the role's command is a shell's, so that what the engine is given stands in a text nobody here reads."""
    program = role.role.command[0].rpartition("/")[2] if role.role.command else ""
    return program in _SHELLS or program.endswith(".sh")


def stated_version(review: DeploymentReview, role: RoleReview) -> Stated | None:
    """The engine version the role's image says it has, else the one the runner image is made for (decisions D2)."""
    own = role.role.image
    return _read(f"{role.path}.image", own, _TAGGED.search(own)) if own else common_version(review)


def common_version(review: DeploymentReview) -> Stated | None:
    """The engine version of every role that names no image of its own."""
    engine = review.new.spec.engine
    if engine.image:
        return _read("spec.engine.image", engine.image, _TAGGED.search(engine.image))
    if engine.version:
        return _read("spec.engine.version", engine.version, _VERSION.match(engine.version))
    return None


def _read(field: str, text: str, found: re.Match[str] | None) -> Stated | None:
    return Stated(field, text, _version(found)) if found else None


def version(text: str) -> Version:
    """Read a version as the tables write it; raises ValueError where there is none."""
    found = _VERSION.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a version such as 0.30.0 or 0.30.0rc1")
    return _version(found)


def _version(found: re.Match[str]) -> Version:
    major, minor, patch, candidate = found.groups()
    return Version(int(major), int(minor), int(patch or 0), int(candidate is None), int(candidate or 0))
