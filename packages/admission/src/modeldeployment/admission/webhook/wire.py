"""AdmissionReview v1 on the wire: a request out of the bytes of a review, and the bytes of an answer out of a verdict.

Source: facts admission §1 and §2; the shapes are those of admission.k8s.io/v1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from modeldeployment.admission import telling
from modeldeployment.admission.errors import BadReview
from modeldeployment.admission.patching import Operation
from modeldeployment.admission.verdict import Caution, Refusal, Unready, Verdict

VERSION: Final = "v1"
API_VERSION: Final = f"admission.k8s.io/{VERSION}"
KIND: Final = "AdmissionReview"

_RETRY_SECONDS: Final = 1
_TOLD: Final = 50  # refusals spelt out in the message; the causes hold all


class GroupVersionKind(msgspec.Struct, frozen=True):
    """Which kind an object is of."""

    group: str = ""
    version: str = ""
    kind: str = ""


class User(msgspec.Struct, frozen=True):
    """Who asks."""

    username: str = ""


class Asked(msgspec.Struct, frozen=True, rename="camel"):
    """One write put before us. `object` is the submitted object, None on a delete; `old_object` the stored one."""

    uid: str
    kind: GroupVersionKind
    operation: str
    name: str = ""
    namespace: str = ""
    user_info: User = User()
    object: dict[str, Any] | None = None
    old_object: dict[str, Any] | None = None
    sub_resource: str = ""

    @property
    def called(self) -> str:
        """The object's name, or what its name will begin with."""
        metadata = (self.object or {}).get("metadata")
        given = metadata if isinstance(metadata, dict) else {}
        return self.name or str(given.get("name") or given.get("generateName") or "")


class _Review(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    request: Asked | None = None


_REVIEW: Final = msgspec.json.Decoder(_Review)


def read(body: bytes) -> Asked:
    """Read the request of a review. Raises BadReview, with a sentence, for whatever is none."""
    try:
        review = _REVIEW.decode(body)
    except msgspec.ValidationError as error:
        raise BadReview(400, f"this is no {API_VERSION} {KIND}: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadReview(400, f"the body is no JSON: {error}") from error
    if (review.api_version, review.kind) != (API_VERSION, KIND):
        shown = f"{review.api_version or 'no apiVersion'}, {review.kind or 'no kind'}"
        raise BadReview(400, f"the body is {shown}; only {API_VERSION}, {KIND} is understood")
    if review.request is None:
        raise BadReview(400, f"the {KIND} has no request")
    if not review.request.uid:
        raise BadReview(400, "the request has no uid, so no answer could be matched to it")
    return review.request


# --- answers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """The bytes to send back, whether they let the object in, and the codes of what they say."""

    body: bytes
    allowed: bool
    codes: tuple[str, ...] = ()


def let_in(asked: Asked, *, patch: Sequence[Operation] = (), warnings: Sequence[Caution] = ()) -> Answer:
    """The answer that lets an object in, changed by `patch`; `warnings` are shown to whoever wrote it."""
    response: dict[str, Any] = {"uid": asked.uid, "allowed": True}
    if patch:
        response["patchType"] = "JSONPatch"
        # Bytes are spelled in base64 by the encoder, as the API wants them.
        response["patch"] = msgspec.json.encode([dict(operation) for operation in patch])
    return _said(response, warnings, [each.code for each in warnings])


def judged(asked: Asked, verdict: Verdict) -> Answer:
    """The answer of the validating half to a verdict.

    Refusals win over what cannot be judged yet: they are there to stay.
    """
    if verdict.refusals:
        return refused(asked, verdict.refusals, verdict.warnings)
    if verdict.unready:
        return unready(asked, verdict.unready)
    return let_in(asked, warnings=verdict.warnings)


def refused(asked: Asked, refusals: Sequence[Refusal], warnings: Sequence[Caution] = ()) -> Answer:
    """422 Invalid with one cause per refusal, in the order given, as kubectl prints them.

    A second cause of the same field and message carries the machine-readable half in its `reason`: code, wayOut and
    patch as JSON (`remedy` reads it). Programs find it there; kubectl prints causes that read alike once.
    """
    told = [(each, telling.sentence(each)) for each in refusals]
    causes = [{"reason": each.cause.value, "message": text, "field": each.field} for each, text in told]
    remedies = [{"reason": _remedy(each), "message": text, "field": each.field} for each, text in told]
    count = "1 reason" if len(refusals) == 1 else f"{len(refusals)} reasons"
    lines = [f"* {each.field}: {text}" for each, text in told[:_TOLD]]
    if len(told) > _TOLD:
        lines.append(f"* and {len(told) - _TOLD} more, each in details.causes")
    message = "\n".join([f'{asked.kind.kind} "{asked.called}" is refused for {count}:', *lines])
    codes = [each.code for each in refusals]
    return _denied(asked, 422, "Invalid", message, causes=causes + remedies, warnings=warnings, codes=codes)


def forbidden(asked: Asked, refusals: Sequence[Refusal]) -> Answer:
    """403: defaults could not be worked out, so nothing else was judged (facts admission §2)."""
    message = "; ".join(f"{each.field}: {telling.sentence(each)}" for each in refusals)
    return _denied(asked, 403, "Forbidden", message, codes=[each.code for each in refusals])


def unready(asked: Asked, reasons: Sequence[Unready]) -> Answer:
    """500 InternalError: nothing is wrong with the object, and it cannot be judged yet (facts admission §2)."""
    return _denied(asked, 500, "InternalError", "; ".join(f"{each.field}: {each.why}" for each in reasons))


def unreadable(asked: Asked, why: str) -> Answer:
    """503 with a Retry-After: what the object names could not be read, so nothing was judged; clients ask again."""
    message = f"{why}; nothing was judged and nothing was changed: try again"
    return _denied(asked, 503, "ServiceUnavailable", message, retry_after=_RETRY_SECONDS)


def failed(asked: Asked, why: str) -> Answer:
    """500 InternalError for a defect of ours."""
    return _denied(asked, 500, "InternalError", why)


def not_ours(asked: Asked, why: str) -> Answer:
    """400 for a review of something this path does not judge."""
    return _denied(asked, 400, "BadRequest", why)


def _denied(
    asked: Asked,
    code: int,
    reason: str,
    message: str,
    *,
    causes: Sequence[dict[str, str]] = (),
    warnings: Sequence[Caution] = (),
    codes: Sequence[str] = (),
    retry_after: int = 0,
) -> Answer:
    details: dict[str, Any] = {"name": asked.called, "group": asked.kind.group, "kind": asked.kind.kind}
    if causes:
        details["causes"] = causes
    if retry_after:
        details["retryAfterSeconds"] = retry_after
    status = {"status": "Failure", "code": code, "reason": reason, "message": message, "details": details}
    return _said({"uid": asked.uid, "allowed": False, "status": status}, warnings, codes)


def _said(response: dict[str, Any], warnings: Sequence[Caution], codes: Sequence[str]) -> Answer:
    if warnings:
        response["warnings"] = [telling.caution(each) for each in warnings]
    if codes:
        response["auditAnnotations"] = {"codes": ",".join(dict.fromkeys(codes))}
    body = msgspec.json.encode({"apiVersion": API_VERSION, "kind": KIND, "response": response})
    return Answer(body, response["allowed"], tuple(codes))


# --- causes, read back -----------------------------------------------------------------------------------------------


class Remedy(msgspec.Struct, frozen=True, rename="camel"):
    """What a refused client can act on by program: the code, the way out and, where one exists, a JSON patch."""

    code: str
    way_out: str = ""
    patch: tuple[dict[str, Any], ...] = ()


_REMEDY: Final = msgspec.json.Decoder(Remedy)


def _remedy(refusal: Refusal) -> str:
    patch = tuple(dict(operation) for operation in refusal.patch)
    return msgspec.json.encode(Remedy(refusal.code, refusal.way_out, patch)).decode()


def remedy(reason: str) -> Remedy | None:
    """Read the `reason` of one of `status.details.causes`; None where it is a plain cause."""
    return _REMEDY.decode(reason) if reason.startswith("{") else None
