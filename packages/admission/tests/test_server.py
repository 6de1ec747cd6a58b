"""The webhook over real HTTPS, before an API server on a real socket."""

import asyncio
import json
from io import BytesIO
from typing import Any

import pytest
from admission_api_server import OPERATOR, api_server, path
from admission_https import body, calling
from modeldeployment.admission import Policy
from modeldeployment.admission.examples import CLUSTER, DEPLOYMENT, SCALER, changed
from modeldeployment.admission.webhook.configurations import Half
from modeldeployment.api import keys

H20, BINDING, POOL, BACKEND, TARGET = (
    path("InstanceType", "h20-8x"),
    path("KVCachePoolBinding", "shared-kv", "team-a"),
    path("KVCachePool", "dram"),
    path("KVCacheBackend", "mooncake"),
    path("ModelDeployment", "qwen-72b", "team-a"),
)
VALIDATE = "/validate-worker-gpustack-ai-v1-modeldeployment"
CLAIMED = f"metadata.annotations[{keys.SCALER_BINDING}]"
CLAIM = '{"scalerName":"qwen-72b","scalerUID":"8c4e","term":3}'


def codes(response: dict[str, Any]) -> list[str]:
    found = response.get("auditAnnotations", {}).get("codes", "")
    return [code for code in found.split(",") if code]


async def test_a_good_write_is_let_in_by_both_halves() -> None:
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        for half in Half:
            for new in (DEPLOYMENT, SCALER):
                response = await caller.review(new, half=half)
                assert (response["uid"], response["allowed"], "warnings" in response) == ("7c8f1c1e", True, False)


async def test_the_mutating_half_adds_what_hangs_on_the_instance_type() -> None:
    new = changed(DEPLOYMENT, {"spec.roles[0].resources": {}})
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        response = await caller.review(new, half=Half.MUTATE)
        assert (response["allowed"], response["patchType"]) == (True, "JSONPatch")
        assert server.reads == {H20: 1}


async def test_each_object_is_read_once_for_a_review_and_at_no_older_version() -> None:
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        roles = [{**DEPLOYMENT["spec"]["roles"][0], "name": name} for name in ("a", "b", "c")]
        await caller.review(changed(DEPLOYMENT, {"spec.roles": roles}))
        assert server.reads == {H20: 1, BINDING: 1, POOL: 1, BACKEND: 1}


async def test_nothing_is_kept_from_one_review_to_the_next() -> None:
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        assert (await caller.review(DEPLOYMENT))["allowed"] is True
        del server.objects[H20]
        assert codes(await caller.review(DEPLOYMENT)) == ["MD049"]
        server.hold(CLUSTER)
        assert (await caller.review(DEPLOYMENT))["allowed"] is True


@pytest.mark.parametrize(
    ("old", "new", "reads"),
    [
        ({}, {"spec.roles[0].image": "own:1"}, {H20: 1}),
        ({}, {"spec.kvTransfer": {"protocol": "TCP"}}, {H20: 1, BINDING: 1, POOL: 1, BACKEND: 1}),
        ({}, {"metadata.deletionTimestamp": "2026-03-01T12:00:00Z"}, {}),
        ({CLAIMED: CLAIM}, {CLAIMED: CLAIM}, {H20: 1}),
        ({CLAIMED: CLAIM}, {}, {H20: 1, path("ModelDeploymentScaler", "qwen-72b", "team-a"): 1}),
        ({CLAIMED: "nonsense"}, {}, {H20: 1}),
    ],
)
async def test_an_update_reads_what_its_change_can_touch(
    old: dict[str, Any], new: dict[str, Any], reads: dict[str, int]
) -> None:
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        await caller.review(changed(DEPLOYMENT, new), changed(DEPLOYMENT, old))
        assert server.reads == reads


async def test_a_count_that_is_said_needs_no_read_to_default() -> None:
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        await caller.review(DEPLOYMENT, half=Half.MUTATE)
        assert server.reads == {}


async def test_a_scaler_reads_its_target() -> None:
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        await caller.review(SCALER)
        assert server.reads == {TARGET: 1}


async def test_a_missing_instance_type_is_one_field_error_among_all_others() -> None:
    new = changed(DEPLOYMENT, {"spec.roles[0].instanceType": "gone", "spec.engine.version": ""})
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        response = await caller.review(new)
        assert response["status"]["code"] == 422
        fields = [cause["field"] for cause in response["status"]["details"]["causes"]]
        assert fields[: len(fields) // 2] == ["spec.engine.version", "spec.roles[0].instanceType"]


async def test_defaulting_from_a_missing_instance_type_is_denied_by_name() -> None:
    new = changed(DEPLOYMENT, {"spec.roles[0]": {"name": "server", "instanceType": "gone"}})
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        status = (await caller.review(new, half=Half.MUTATE))["status"]
        assert (status["code"], status["reason"]) == (403, "Forbidden")
        assert "spec.roles[0].instanceType" in status["message"]
        assert '"gone"' in status["message"]


@pytest.mark.parametrize("stamp", [{}, {"metadata.deletionTimestamp": None}])
async def test_an_object_on_its_way_out_is_held_by_neither_half_whatever_the_write_says_of_it(
    stamp: dict[str, Any],
) -> None:
    vanished = {"spec.roles[0]": {"name": "server", "instanceType": "gone"}}
    stored = changed(DEPLOYMENT, vanished | {"metadata.deletionTimestamp": "2030-01-01T00:00:00Z"})
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        for half in Half:
            assert (await caller.review(changed(DEPLOYMENT, vanished | stamp), stored, half=half))["allowed"]
        assert server.reads == {}


async def test_a_type_nobody_has_observed_yet_is_an_internal_error_and_not_invalid() -> None:
    asks = {"accelerator": 1, "acceleratorSlicedMemoryPercentage": 50}
    new = changed(DEPLOYMENT, {"spec.roles[0].instanceType": "unobserved", "spec.roles[0].resources": asks})
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        status = (await caller.review(new))["status"]
        assert (status["code"], status["reason"]) == (500, "InternalError")
        for word in ("unobserved", "not ready", "retry"):
            assert word in status["message"]


@pytest.mark.parametrize("broken", [H20, BINDING, POOL, BACKEND])
async def test_an_object_that_cannot_be_read_ends_the_review_and_names_itself(broken: str) -> None:
    new = changed(DEPLOYMENT, {"spec.engine.version": ""})
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        server.broken[broken] = 403
        status = (await caller.review(new))["status"]
        assert (status["code"], status["reason"]) == (503, "ServiceUnavailable")
        assert status["details"]["retryAfterSeconds"] == 1
        assert f"{broken.rpartition('/')[2]} could not be read: 403 InternalError" in status["message"]
        assert "spec.engine.version" not in json.dumps(status)


@pytest.mark.parametrize("name", ["..", "a/b", "Ünïcode", "UPPER", "-a", "a" * 254, "a?watch=1", " "])
async def test_a_name_that_no_object_can_have_is_not_asked_for(name: str) -> None:
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        response = await caller.review(changed(DEPLOYMENT, {"spec.roles[0].instanceType": name, "spec.kvCache": None}))
        assert "MD049" in codes(response)
        assert server.reads == {}


@pytest.mark.parametrize(
    "spec",
    [
        *(None, 5, [], {}, {"roles": None}, {"roles": 5}, {"roles": [5, None, [], {}]}),
        *({"roles": [{"instanceType": 5}]}, {"roles": [{"resources": 5}]}),
        *({"kvCache": 5}, {"kvCache": {"poolRef": []}}, {"targetRef": {"name": []}}),
    ],
)
async def test_an_object_of_any_shape_gets_an_answer_and_no_failure(spec: Any) -> None:
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        for half in Half:
            for base in (DEPLOYMENT, SCALER):
                new = {**base, "spec": spec}
                for old in (None, base, new):
                    response = await caller.review(new, old, half)
                    assert response.get("status", {}).get("code") in (None, 422)


@pytest.mark.parametrize("operation", ["DELETE", "CONNECT"])
async def test_other_operations_are_not_judged(operation: str) -> None:
    async with api_server() as server, calling(server) as caller:
        broken = changed(DEPLOYMENT, {"spec.roles": []})
        assert (await caller.review(broken, broken, operation=operation))["allowed"] is True
        assert (await caller.review(None, broken, operation=operation))["allowed"] is True


async def test_status_updates_are_not_judged() -> None:
    async with api_server() as server, calling(server) as caller:
        broken = changed(DEPLOYMENT, {"spec.roles": []})
        assert (await caller.review(broken, broken, subResource="status"))["allowed"] is True


@pytest.mark.parametrize(
    ("username", "refused"), [("anna", ["MD041"]), (OPERATOR, []), ("ci", []), ("system:masters", ["MD041"])]
)
async def test_only_the_operator_and_those_named_beside_it_write_counts_of_a_bound_deployment(
    username: str, refused: list[str]
) -> None:
    old = changed(DEPLOYMENT, {CLAIMED: CLAIM})
    decision = '{"decisionID":"d-1","term":3,"vector":{"server":5}}'
    change = {CLAIMED: CLAIM, "spec.roles[0].replicas": 5}
    if not refused:
        change[f"metadata.annotations[{keys.SCALER_DECISION}]"] = decision
    async with api_server(*CLUSTER) as server, calling(server, operators=frozenset({"ci"})) as caller:
        response = await caller.review(changed(DEPLOYMENT, change), old, userInfo={"username": username})
        assert codes(response) == refused


async def test_settings_are_those_of_the_moment() -> None:
    new = changed(DEPLOYMENT, {"spec.roles[0].privileged": True})
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        assert codes(await caller.review(new)) == ["MD028"]
        assert caller.webhook.set_policy(Policy(privileged_allowed=True)) is True
        assert caller.webhook.set_policy(Policy(privileged_allowed=True)) is False
        assert (await caller.review(new))["allowed"] is True


async def test_a_defect_of_ours_refuses_with_an_answer_and_a_log_line(caplog: pytest.LogCaptureFixture) -> None:
    nothing: Any = None
    async with api_server(*CLUSTER) as server, calling(server, nothing) as caller:
        caller.webhook.set_policy(nothing)
        response = await caller.review(changed(DEPLOYMENT, {"spec.roles[0].privileged": True}))
    assert response["allowed"] is False
    assert (response["status"]["code"], response["status"]["reason"]) == (500, "InternalError")
    assert "Traceback" not in json.dumps(response)
    (record,) = [each for each in caplog.records if each.getMessage() == "review failed"]
    assert record.__dict__["object"] == "modeldeployments/team-a/qwen-72b"
    assert "NoneType" in record.__dict__["reason"]


async def test_what_is_no_review_gets_the_http_answer_it_deserves() -> None:
    async with api_server() as server, calling(server) as caller:
        for method, at, content, content_type, status, says in (
            ("POST", VALIDATE, b"{", "application/json", 400, "the body is no JSON"),
            (
                "POST",
                VALIDATE,
                b"{}",
                "application/json",
                400,
                "only admission.k8s.io/v1, AdmissionReview is understood",
            ),
            (
                "POST",
                VALIDATE,
                body(DEPLOYMENT),
                "text/plain",
                415,
                "a review is sent as application/json, not text/plain",
            ),
            ("POST", VALIDATE, b" " * (6 * 2**20 + 1), "application/json", 413, "Maximum request body size"),
            ("POST", "/validate-everything", body(DEPLOYMENT), "application/json", 404, "Not Found"),
            ("GET", VALIDATE, b"", "application/json", 405, "Method Not Allowed"),
        ):
            said = await caller.send(method, at, data=BytesIO(content), headers={"Content-Type": content_type})
            assert (said.status, says in said.text) == (status, True), said
            assert "Traceback" not in said.text


async def test_a_charset_beside_the_content_type_does_no_harm() -> None:
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        said = await caller.post(VALIDATE, body(DEPLOYMENT), "application/json; charset=utf-8")
        assert said.response["allowed"] is True


@pytest.mark.parametrize(
    "kind",
    [
        {"group": "worker.gpustack.ai", "version": "v1", "kind": "ModelDeploymentScaler"},
        {"group": "worker.gpustack.ai", "version": "v2", "kind": "ModelDeployment"},
        {"group": "apps", "version": "v1", "kind": "Deployment"},
    ],
)
async def test_another_kind_than_the_path_is_for_is_denied_by_name(kind: dict[str, str]) -> None:
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        status = (await caller.review(DEPLOYMENT, kind=kind))["status"]
        assert (status["code"], status["reason"]) == (400, "BadRequest")
        assert status["message"] == (
            "this path reviews worker.gpustack.ai/v1, ModelDeployment, "
            f"not {kind['group']}/{kind['version']}, {kind['kind']}"
        )


async def test_a_write_without_its_object_is_denied() -> None:
    async with api_server() as server, calling(server) as caller:
        said = await caller.post(VALIDATE, body(DEPLOYMENT, object=None))
        assert said.response["status"]["message"] == "the request carries no ModelDeployment"


async def test_many_reviews_at_once_all_get_their_own_answer() -> None:
    async with api_server(*CLUSTER) as server, calling(server) as caller:

        async def one(number: int) -> str:
            said = await caller.post(VALIDATE, body(DEPLOYMENT, uid=f"uid-{number}"))
            return str(said.response["uid"])

        assert await asyncio.gather(*map(one, range(100))) == [f"uid-{number}" for number in range(100)]


async def test_the_tally_counts_reviews_codes_and_durations() -> None:
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        await caller.review(DEPLOYMENT, half=Half.MUTATE)
        await caller.review(DEPLOYMENT)
        await caller.review(changed(DEPLOYMENT, {"spec.roles[0].privileged": True}))
        tally = caller.webhook.tally
        assert tally.reviews == {
            ("ModelDeployment", Half.MUTATE, True): 1,
            ("ModelDeployment", Half.VALIDATE, True): 1,
            ("ModelDeployment", Half.VALIDATE, False): 1,
        }
        assert tally.codes == {"MD028": 1}
        assert {half: sum(buckets) for half, buckets in tally.durations.items()} == {Half.MUTATE: 1, Half.VALIDATE: 2}
