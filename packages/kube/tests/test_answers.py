"""Values out of answers: objects, refusals, watch lines, chunks."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kube_worlds import POD_LINE, UNHURRIED, pod, pod_body, status_body, watch_line, wire
from modeldeployment.kube import (
    Added,
    AlreadyExists,
    ApiError,
    Bookmark,
    Changed,
    Conflict,
    Expired,
    Forbidden,
    Gone,
    Invalid,
    Malformed,
    NotFound,
    ServerFailure,
    TooManyRequests,
    Unauthorized,
    error_of,
    errors,
    read_watch_line,
    shapes,
)
from modeldeployment.kube.requests import Lines, decode

NULL_CONDITIONS = {"metadata": {"name": "crd", "creationTimestamp": None}, "status": {"conditions": None}}


def test_only_the_fields_of_the_shape_become_an_object() -> None:
    decoded = decode(msgspec.json.Decoder(shapes.Pod), wire(pod_body()))
    assert decoded == shapes.Pod(
        metadata=shapes.ObjectMeta(
            name="engine-0",
            namespace="models",
            uid="u1",
            resource_version="10",
            creation_timestamp="2026-11-29T19:23:13Z",
            labels={"role": "prefill"},
        ),
        spec=shapes.PodSpec(node_name="node-1"),
        status=shapes.PodStatus(phase="Running", pod_ip="127.1.0.1"),
    )


def test_null_reads_as_absent() -> None:
    decoded = decode(msgspec.json.Decoder(shapes.CustomResourceDefinition), wire(NULL_CONDITIONS))
    assert decoded == shapes.CustomResourceDefinition(metadata=shapes.ObjectMeta(name="crd"))


def test_a_text_that_looks_like_a_null_stays() -> None:
    annotations = {"a": ':null,"b":null', "b": '{"x":null}', "c": ":null", "d": "null"}
    body = {"metadata": {"name": "p", "labels": None, "annotations": annotations}}
    assert decode(msgspec.json.Decoder(shapes.Partial), wire(body)).metadata.annotations == annotations


@UNHURRIED
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(max_size=12)
        | st.sampled_from([":null", '":null', '"a":null']),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcde"), inner, max_size=3),
        max_leaves=12,
    )
)
def test_cleaning_nulls_changes_nothing_else(noise: Any) -> None:
    body = {"metadata": {"name": "p", "labels": None}, "spec": noise, "status": None}
    decoded = decode(msgspec.json.Decoder(_Anything), wire(body))
    assert decoded.metadata.labels == {}
    if noise is not None:
        assert _without_null_values(decoded.spec) == _without_null_values(noise)


class _Anything(shapes.Object, frozen=True):
    spec: Any = None


def _without_null_values(value: Any) -> Any:
    match value:
        case dict():
            return {key: _without_null_values(item) for key, item in value.items() if item is not None}
        case list():
            return [_without_null_values(item) for item in value]
        case _:
            return value


@pytest.mark.parametrize("body", [b"<html>", b'{"metadata":{"name":7}}', b"[]", b""])
def test_an_answer_of_another_shape_is_malformed(body: bytes) -> None:
    with pytest.raises(Malformed) as raised:
        decode(msgspec.json.Decoder(shapes.Pod), body)
    assert isinstance(raised.value.__cause__, msgspec.DecodeError)


@pytest.mark.parametrize(
    ("status", "reason", "leaf"),
    [
        (400, "BadRequest", Invalid),
        (401, "Unauthorized", Unauthorized),
        (403, "Forbidden", Forbidden),
        (404, "NotFound", NotFound),
        (409, "AlreadyExists", AlreadyExists),
        (409, "Conflict", Conflict),
        (410, "Expired", errors.Gone),
        (422, "Invalid", Invalid),
        (429, "TooManyRequests", TooManyRequests),
        (500, "InternalError", ServerFailure),
        (504, "Timeout", ServerFailure),
        (415, "UnsupportedMediaType", ApiError),
    ],
)
def test_each_refusal_has_its_type(status: int, reason: str, leaf: type[ApiError]) -> None:
    error = error_of(status, {}, wire(status_body(status, reason)))
    assert (type(error), error.status, error.reason, str(error)) == (leaf, status, reason, f"{status} {reason}: no")


def test_the_causes_of_a_refusal_are_kept() -> None:
    cause = {"reason": "FieldValueInvalid", "message": "must be positive", "field": "spec.replicas"}
    error = error_of(422, {}, wire(status_body(422, "Invalid", details={"name": "x", "causes": [cause]})))
    assert error.details.causes == (errors.Cause("FieldValueInvalid", "must be positive", "spec.replicas"),)


def test_a_refusal_that_is_no_status_object_is_cropped_into_the_message() -> None:
    error = error_of(502, {}, b"<html>" + b"x" * 5000)
    assert type(error) is ServerFailure
    assert error.message == "<html>" + "x" * 494 + "… (5006 bytes)"


@pytest.mark.parametrize(
    ("headers", "details", "seconds"),
    [
        ({"Retry-After": "7"}, {}, 7),
        ({}, {"retryAfterSeconds": 3}, 3),
        ({"Retry-After": "7"}, {"retryAfterSeconds": 3}, 7),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, {}, 0),
        ({}, {}, 0),
    ],
)
def test_the_wait_a_server_asks_for_is_read(headers: dict[str, str], details: dict[str, int], seconds: int) -> None:
    error = error_of(429, headers, wire(status_body(429, "TooManyRequests", details=details)))
    assert isinstance(error, TooManyRequests)
    assert error.retry_after == seconds


def test_watch_lines_become_values() -> None:
    assert read_watch_line(watch_line("ADDED", pod_body()), POD_LINE) == Added(pod())
    assert read_watch_line(watch_line("MODIFIED", pod_body(version=11)), POD_LINE) == Changed(pod(version=11))
    assert read_watch_line(watch_line("DELETED", pod_body(version=12)), POD_LINE) == Gone(pod(version=12))


def test_a_bookmark_is_read_although_its_object_is_full_of_nulls() -> None:
    body: dict[str, Any] = {
        "kind": "Pod",
        "metadata": {"resourceVersion": "99", "creationTimestamp": None},
        "spec": {"containers": None},
        "status": {},
    }
    assert read_watch_line(watch_line("BOOKMARK", body), POD_LINE) == Bookmark("99")
    body["metadata"]["annotations"] = {"k8s.io/initial-events-end": "true"}
    assert read_watch_line(watch_line("BOOKMARK", body), POD_LINE) == Bookmark("99", initial_end=True)


def test_a_410_is_a_value() -> None:
    line = watch_line("ERROR", status_body(410, "Expired", "too old resource version: 1 (9)"))
    assert read_watch_line(line, POD_LINE) == Expired("too old resource version: 1 (9)")


def test_any_other_error_line_is_raised() -> None:
    with pytest.raises(ServerFailure, match="500 InternalError: etcd is away"):
        read_watch_line(watch_line("ERROR", status_body(500, "InternalError", "etcd is away")), POD_LINE)


def test_a_line_of_unknown_type_is_malformed() -> None:
    with pytest.raises(Malformed, match="'SPOILED'"):
        read_watch_line(watch_line("SPOILED", pod_body()), POD_LINE)


@UNHURRIED
@given(st.lists(st.binary(min_size=1).map(lambda line: line.replace(b"\n", b" "))), st.data())
def test_lines_do_not_depend_on_where_the_chunks_are_cut(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    chunks = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    cutter = Lines()
    assert [line for chunk in chunks for line in cutter.feed(chunk)] == lines


def test_a_line_cut_off_by_the_end_is_not_given_out() -> None:
    cutter = Lines()
    assert cutter.feed(b'{"a":1}\n{"b"') == [b'{"a":1}']
    assert json.loads(cutter.feed(b":2}\n")[0]) == {"b": 2}
