"""Reviews out of bytes, and answers as bytes."""

import base64
import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modeldeployment.admission import patching
from modeldeployment.admission.errors import BadReview
from modeldeployment.admission.verdict import Cause, Caution, Refusal, Unready, Verdict
from modeldeployment.admission.webhook import wire
from modeldeployment.admission.webhook.wire import Answer, Asked


def review(**request: Any) -> dict[str, Any]:
    asked = {
        "uid": "7c8f1c1e",
        "kind": {"group": "worker.gpustack.ai", "version": "v1", "kind": "ModelDeployment"},
        "operation": "CREATE",
        "namespace": "team-a",
        "userInfo": {"username": "anna", "groups": ["developers"]},
        "object": {"kind": "ModelDeployment", "metadata": {"name": "qwen-72b"}},
        "oldObject": None,
        "dryRun": True,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {**asked, **request}}


def asked(**request: Any) -> Asked:
    return wire.read(json.dumps(review(**request)).encode())


def response(answer: Answer) -> dict[str, Any]:
    body = json.loads(answer.body)
    assert (body["apiVersion"], body["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert body["response"]["uid"] == "7c8f1c1e"
    assert body["response"]["allowed"] is answer.allowed
    said: dict[str, Any] = body["response"]
    return said


OWNED = Refusal(
    "MD012",
    "spec.roles[0].extraArgs[1]",
    "--kv-transfer-config={}",
    "the operator writes this flag",
    "remove it",
    Cause.FORBIDDEN,
    (patching.remove("spec.roles[0].extraArgs[1]"),),
)
NARROW = Refusal("MD015", "spec.roles[0].resources.accelerator", 1, "16 ranks need 16 cards", "ask for 16")


def test_a_review_is_read_with_what_matters_of_it() -> None:
    read = asked(oldObject={"kind": "ModelDeployment"}, operation="UPDATE", somethingNew=1)
    assert (read.uid, read.operation, read.namespace, read.user_info.username) == (
        "7c8f1c1e",
        "UPDATE",
        "team-a",
        "anna",
    )
    assert read.object == {"kind": "ModelDeployment", "metadata": {"name": "qwen-72b"}}
    assert read.old_object == {"kind": "ModelDeployment"}


@pytest.mark.parametrize(
    ("metadata", "called"),
    [({"name": "a"}, "a"), ({"generateName": "a-"}, "a-"), ({}, ""), ([], ""), (None, ""), ({"name": 5}, "5")],
)
def test_an_object_without_a_name_yet_is_called_by_what_there_is(metadata: Any, called: str) -> None:
    assert asked(object={"metadata": metadata}).called == called


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "the body is no JSON"),
        (b"{", "the body is no JSON"),
        (b"\xff\xfe", "the body is no JSON"),
        (b'{"request":{"object":{"a":' + b"[" * 100_000, "the body is no JSON"),
        (b"[]", "this is no admission.k8s.io/v1 AdmissionReview: Expected `object`, got `array`"),
        (b"{}", "the body is no apiVersion, no kind; only admission.k8s.io/v1, AdmissionReview is understood"),
        (
            json.dumps({**review(), "apiVersion": "admission.k8s.io/v1beta1"}).encode(),
            "the body is admission.k8s.io/v1beta1, AdmissionReview; only admission.k8s.io/v1, AdmissionReview is",
        ),
        (json.dumps({**review(), "kind": "Pod"}).encode(), "the body is admission.k8s.io/v1, Pod; only "),
        (json.dumps({**review(), "request": None}).encode(), "the AdmissionReview has no request"),
        (json.dumps(review(uid="")).encode(), "the request has no uid, so no answer could be matched to it"),
        (json.dumps(review(uid=5)).encode(), "Expected `str`, got `int` - at `$.request.uid`"),
        (json.dumps(review(object=[])).encode(), "Expected `object | null`, got `array` - at `$.request.object`"),
        (json.dumps(review(kind="ModelDeployment")).encode(), "at `$.request.kind`"),
    ],
)
def test_what_is_no_review_is_said_to_be_none(body: bytes, says: str) -> None:
    with pytest.raises(BadReview) as refused:
        wire.read(body)
    assert refused.value.status == 400
    assert says in str(refused.value)


def test_an_object_is_let_in_without_a_word() -> None:
    assert response(wire.let_in(asked())) == {"uid": "7c8f1c1e", "allowed": True}


def test_defaults_are_a_json_patch_in_base64() -> None:
    said = response(wire.let_in(asked(), patch=(patching.put("spec.roles[0].resources", {"accelerator": 1}),)))
    assert said["patchType"] == "JSONPatch"
    assert json.loads(base64.b64decode(said["patch"])) == [
        {"op": "add", "path": "/spec/roles/0/resources", "value": {"accelerator": 1}}
    ]


def test_warnings_begin_with_their_code_and_field() -> None:
    lint = Caution("MDW03", "spec.router", None, "no request reaches Prefill", "add a router")
    answer = wire.judged(asked(), Verdict({}, warnings=(lint,)))
    assert response(answer)["warnings"] == ["MDW03 spec.router: no request reaches Prefill; add a router"]
    assert answer.codes == ("MDW03",)


def test_all_refusals_come_together_as_invalid_with_one_cause_each_in_order() -> None:
    answer = wire.judged(asked(), Verdict({}, refusals=(OWNED, NARROW)))
    said = response(answer)
    status = said["status"]
    owned = "Forbidden: the operator writes this flag; remove it (MD012)"
    narrow = "Invalid value: 1: 16 ranks need 16 cards; ask for 16 (MD015)"
    assert (status["status"], status["code"], status["reason"]) == ("Failure", 422, "Invalid")
    assert status["message"] == (
        'ModelDeployment "qwen-72b" is refused for 2 reasons:\n'
        f"* spec.roles[0].extraArgs[1]: {owned}\n"
        f"* spec.roles[0].resources.accelerator: {narrow}"
    )
    details = status["details"]
    assert (details["name"], details["group"], details["kind"]) == ("qwen-72b", "worker.gpustack.ai", "ModelDeployment")
    assert details["causes"][:2] == [
        {"reason": "FieldValueForbidden", "message": owned, "field": "spec.roles[0].extraArgs[1]"},
        {"reason": "FieldValueInvalid", "message": narrow, "field": "spec.roles[0].resources.accelerator"},
    ]
    assert said["auditAnnotations"] == {"codes": "MD012,MD015"}


def test_the_machine_readable_half_reads_like_its_cause_so_that_kubectl_prints_it_once() -> None:
    causes = response(wire.refused(asked(), (OWNED, NARROW)))["status"]["details"]["causes"]
    plain, remedies = causes[:2], causes[2:]
    assert [(each["field"], each["message"]) for each in plain] == [
        (each["field"], each["message"]) for each in remedies
    ]
    assert [wire.remedy(each["reason"]) for each in plain] == [None, None]
    assert [wire.remedy(each["reason"]) for each in remedies] == [
        wire.Remedy("MD012", "remove it", ({"op": "remove", "path": "/spec/roles/0/extraArgs/1"},)),
        wire.Remedy("MD015", "ask for 16", ()),
    ]


def test_a_message_spells_out_fifty_refusals_and_the_causes_hold_all() -> None:
    status = response(wire.refused(asked(), [NARROW] * 52))["status"]
    lines = status["message"].splitlines()
    assert lines[0] == 'ModelDeployment "qwen-72b" is refused for 52 reasons:'
    assert len(lines) == 52
    assert lines[-1] == "* and 2 more, each in details.causes"
    assert len(status["details"]["causes"]) == 104


@pytest.mark.parametrize(
    ("cause", "value", "says"),
    [
        (Cause.INVALID, "x", 'Invalid value: "x": why; way out (MD001)'),
        (Cause.INVALID, None, "Invalid value: why; way out (MD001)"),
        (Cause.INVALID, {"a": [1]}, 'Invalid value: {"a":[1]}: why; way out (MD001)'),
        (Cause.REQUIRED, "", "Required value: why; way out (MD001)"),
        (Cause.FORBIDDEN, "x", "Forbidden: why; way out (MD001)"),
        (Cause.DUPLICATE, "x", 'Duplicate value: "x": why; way out (MD001)'),
        (Cause.NOT_SUPPORTED, "x", 'Unsupported value: "x": why; way out (MD001)'),
        (Cause.NOT_FOUND, "x", 'Not found: "x": why; way out (MD001)'),
        (Cause.TOO_LONG, "x" * 200, f'Too long: "{"x" * 119}… (202 characters): why; way out (MD001)'),
        (Cause.TOO_MANY, 11, "Too many: 11: why; way out (MD001)"),
    ],
)
def test_each_cause_is_spelt_as_kubernetes_spells_it(cause: Cause, value: Any, says: str) -> None:
    refusal = Refusal("MD001", "spec.roles", value, "why", "way out", cause)
    assert response(wire.refused(asked(), (refusal,)))["status"]["details"]["causes"][0]["message"] == says


def test_a_missing_default_is_forbidden_and_names_the_field() -> None:
    missing = Refusal("MD049", "spec.roles[0].instanceType", "gone", "there is none", "name another", Cause.NOT_FOUND)
    status = response(wire.forbidden(asked(), (missing,)))["status"]
    assert (status["code"], status["reason"]) == (403, "Forbidden")
    assert status["message"] == ('spec.roles[0].instanceType: Not found: "gone": there is none; name another (MD049)')


def test_what_cannot_be_judged_yet_is_an_internal_error_unless_something_is_refused_for_good() -> None:
    waiting = Unready("spec.roles[0]", "InstanceType new is not ready; retry")
    status = response(wire.judged(asked(), Verdict({}, unready=(waiting,))))["status"]
    assert (status["code"], status["reason"], status["message"]) == (
        500,
        "InternalError",
        "spec.roles[0]: InstanceType new is not ready; retry",
    )
    both = response(wire.judged(asked(), Verdict({}, refusals=(NARROW,), unready=(waiting,))))["status"]
    assert (both["code"], both["reason"]) == (422, "Invalid")


def test_what_could_not_be_read_asks_the_client_to_try_again() -> None:
    status = response(wire.unreadable(asked(), "InstanceType a could not be read: 500"))["status"]
    assert (status["code"], status["reason"]) == (503, "ServiceUnavailable")
    assert status["details"]["retryAfterSeconds"] == 1
    assert "causes" not in status["details"]
    assert status["message"] == (
        "InstanceType a could not be read: 500; nothing was judged and nothing was changed: try again"
    )


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.binary(max_size=64) | JSON.map(lambda value: json.dumps(value).encode()))
def test_whatever_arrives_is_a_review_or_is_said_to_be_none(body: bytes) -> None:
    with contextlib.suppress(BadReview):
        wire.read(body)


@settings(deadline=None)
@given(st.sampled_from(sorted(review()["request"])), JSON)
def test_a_review_with_any_value_anywhere_is_read_or_is_said_to_be_none(field: str, value: Any) -> None:
    with contextlib.suppress(BadReview):
        read = wire.read(json.dumps(review(**{field: value})).encode())
        assert json.loads(wire.failed(read, "why").body)["response"]["uid"] == read.uid
