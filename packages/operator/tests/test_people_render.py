"""`kubectl md render` without a cluster."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.admission.examples import CLUSTER, changed
from modeldeployment.operator.people import emitting, manifests
from modeldeployment.render import RouterRendering, Seat
from people_renderings import IMAGE, MATRIX, PLAIN, STORE, expected, pair, ready_cache, rendered
from people_worlds import cluster, deployment, run, written

Capture = pytest.CaptureFixture[str]
ROLE = "spec.roles[0]"


@pytest.mark.parametrize("body", MATRIX)
def test_what_is_printed_is_what_the_controller_posts_byte_for_byte(
    body: dict[str, Any], tmp_path: Path, capsys: Capture
) -> None:
    body = changed(body, {"metadata.uid": "5f7c1f2e"})
    ready = ready_cache(tmp_path / "cache.yaml")
    said = rendered(capsys, tmp_path, body, "--facts", ready, "-o", "json")
    assert said.status == 0, said.err
    wanted = expected(body, store=STORE if body["spec"]["kvCache"] else None)
    routed = wanted.router.objects if isinstance(wanted.router, RouterRendering) else ()
    objects = [json.dumps(each, separators=(",", ":"), ensure_ascii=False) for each in (*routed, *wanted.services)]
    pods = [role.template.body(seat).decode() for role in wanted.roles for seat in role.seats()]
    assert said.out.split("\n") == [*objects, *pods, ""]


@pytest.mark.parametrize("body", MATRIX)
def test_yaml_loads_to_the_same_objects_in_every_reader(body: dict[str, Any], tmp_path: Path, capsys: Capture) -> None:
    lines = rendered(capsys, tmp_path, body, "-o", "json").lines
    out = rendered(capsys, tmp_path, body).out
    objects = [json.loads(line) for line in lines]
    assert list(yaml.safe_load_all(out)) == objects
    (tmp_path / "out.yaml").write_text(out, encoding="utf-8")
    assert [each.body for each in manifests.read([str(tmp_path / "out.yaml")])] == objects


def test_one_pod_is_printed_exactly_as_it_is_posted_without_an_end_of_line(tmp_path: Path, capsys: Capture) -> None:
    body = pair(None, size=2)
    picked = ("--role", "decode", "--replica", "1", "--member", "1")
    said = rendered(capsys, tmp_path, body, "-o", "json", *picked)
    assert said.out.encode() == expected(body).roles[1].template.body(Seat(1, 1))


def test_the_picked_pods_come_alone(tmp_path: Path, capsys: Capture) -> None:
    body = pair("vllm-router", size=2)

    def names(*picked: str) -> list[str]:
        out = rendered(capsys, tmp_path, body, *picked).out
        return [each["metadata"]["name"] for each in yaml.safe_load_all(out)]

    assert names("--role", "decode", "--replica", "0") == ["qwen-pd-decode-r0-m0", "qwen-pd-decode-r0-m1"]
    assert names("--replica", "1", "--member", "0") == ["qwen-pd-prefill-r1-m0", "qwen-pd-decode-r1-m0"]
    assert len(names("--member", "1")) == 4
    kinds = [each["kind"] for each in yaml.safe_load_all(rendered(capsys, tmp_path, body).out)]
    assert kinds == [
        *("ServiceAccount", "Role", "RoleBinding", "Service", "Deployment"),
        *["Service"] * 7,
        *["Pod"] * 8,
    ]


@pytest.mark.parametrize(
    ("picked", "sentence"),
    [
        (("--role", "server"), "--role is server: the deployment has no such role; its roles are prefill, decode"),
        (
            ("--role", "decode", "--replica", "2"),
            "--replica is 2: there is no such Pod; role decode has replicas 0 to 1 of members 0 to 0",
        ),
        (("--role", "decode", "--member", "1"), "--member is 1: there is no such Pod; role decode has"),
    ],
    ids=["role", "replica", "member"],
)
def test_a_pod_that_is_not_there_is_wrong_use(
    picked: tuple[str, ...], sentence: str, tmp_path: Path, capsys: Capture
) -> None:
    said = rendered(capsys, tmp_path, pair(None), *picked)
    assert (said.status, said.out) == (2, "")
    assert sentence in said.err


def test_the_schemas_and_the_webhooks_defaults_are_in_what_is_printed(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", {**PLAIN, f"{ROLE}.resources": None, f"{ROLE}.replicas": None})
    (pod,) = yaml.safe_load_all(rendered(capsys, tmp_path, file, "--role", "server").out)
    assert pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1"


def test_what_validate_refuses_is_refused_with_the_same_findings(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", {**PLAIN, f"{ROLE}.extraArgs": ["--kv-transfer-config={}"]})
    said = rendered(capsys, tmp_path, file)
    assert (said.status, said.out) == (1, "")
    judged = run(capsys, "validate", "-f", file, "--facts", cluster(tmp_path / "facts.yaml"))
    assert judged.out in said.err
    assert f"{file}:" in said.err
    assert "refused MD012" in said.err


def test_what_cannot_be_rendered_says_its_reason_and_whether_waiting_helps(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", {**PLAIN, f"{ROLE}.instanceType": "gone"})
    said = rendered(capsys, tmp_path, file)
    assert (said.status, said.out) == (1, "")
    assert "not rendered: InstanceTypeNotFound: spec.roles[server].instanceType is 'gone'" in said.err
    assert "(this may resolve by itself, once the cluster says otherwise)" in said.err
    assert "InstanceType gone is not given, so there is none (pass --facts or --cluster)" in said.err
    assert "Pass" not in said.out


def test_a_refusal_that_waiting_does_not_mend_says_so(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", {"spec.kvCache": None, f"{ROLE}.resources.accelerator": 0})
    (known,) = (each for each in CLUSTER if each["metadata"]["name"] == "h20-8x")
    facts = written(tmp_path / "types.yaml", changed(known, {"status.detail.manufacturer": "acme"}))
    said = run(capsys, "render", "-f", file, "--facts", facts)
    assert (said.status, said.out) == (1, "")
    assert "not rendered: ImageNotSynthesizable: " in said.err
    assert "(this does not resolve by itself)" in said.err


def test_a_cache_that_is_not_given_is_left_out_and_said(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", IMAGE)
    facts = written(tmp_path / "types.yaml", *(each for each in CLUSTER if each["kind"] == "InstanceType"))
    said = run(capsys, "render", "-f", file, "--facts", facts, "--role", "server", "--replica", "0")
    assert said.status == 0
    assert "KVCachePoolBinding shared-kv is not given: rendered without the shared store" in said.err
    assert "kv-transfer-config" not in said.out
    ready = run(
        capsys,
        *("render", "-f", file, "--facts", facts, "--role", "server", "--replica", "0"),
        *("--facts", ready_cache(tmp_path / "cache.yaml")),
    )
    assert "KVCache" not in ready.err
    assert "MooncakeStoreConnector" in ready.out


def test_a_cache_that_cannot_be_used_yet_is_left_out_and_said(tmp_path: Path, capsys: Capture) -> None:
    said = rendered(capsys, tmp_path, deployment(tmp_path / "md.yaml", IMAGE))
    assert said.status == 0
    assert "KVCachePoolBinding shared-kv is not ready: rendered without the shared store" in said.err


def test_a_runtime_class_is_named_where_it_is_given(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", PLAIN)
    picked = ("--role", "server", "--replica", "0")
    without = rendered(capsys, tmp_path, file, *picked)
    assert "RuntimeClass nvidia is not given: rendered without one" in without.err
    assert "runtimeClassName" not in without.out
    given_ = written(
        tmp_path / "class.yaml",
        {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "nvidia"}, "handler": "nvidia"},
    )
    said = rendered(capsys, tmp_path, file, *picked, "--facts", given_)
    assert (said.err, "runtimeClassName: nvidia" in said.out) == ("", True)


def test_the_owner_has_the_stored_uid_then_the_files_then_none(tmp_path: Path, capsys: Capture) -> None:
    def uid(own: str | None, *more: str | Path) -> str:
        file = deployment(tmp_path / "md.yaml", {**PLAIN, "metadata.uid": own})
        (pod, *_) = yaml.safe_load_all(rendered(capsys, tmp_path, file, "--role", "server", *more).out)
        found: str = pod["metadata"]["ownerReferences"][0]["uid"]
        return found

    stored = deployment(tmp_path / "stored.yaml", {**PLAIN, "metadata.uid": "stored"})
    assert (uid(None), uid("own"), uid("own", "--facts", stored)) == ("", "own", "stored")


def test_a_stored_deployment_among_the_facts_makes_it_an_update(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", {**PLAIN, f"{ROLE}.resources.accelerator": 2})
    stored = deployment(tmp_path / "stored.yaml", PLAIN)
    said = rendered(capsys, tmp_path, file, "--facts", stored)
    assert said.status == 1
    assert "refused MD033" in said.err


def test_a_namespace_is_the_files_else_the_one_that_is_told(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", {**PLAIN, "metadata.namespace": None})
    out = rendered(capsys, tmp_path, file, "--role", "server", "-n", "team-b").out
    assert {each["metadata"]["namespace"] for each in yaml.safe_load_all(out)} == {"team-b"}


def test_the_operators_settings_shape_what_is_printed(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", PLAIN)
    settings = tmp_path / "settings.yaml"
    settings.write_text("instance-general-resources-overcommit: false\n")
    out = rendered(capsys, tmp_path, file, "--role", "server", "--replica", "0", "--settings", settings).out
    resources = yaml.safe_load(out)["spec"]["containers"][0]["resources"]
    assert resources["requests"] == resources["limits"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("kind: [", ":2:1: not YAML"),
        ("kind: A\nkind: B\n", ":2:1: the key kind is already there"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", ", only Pod"),
        ("", ", only nothing"),
    ],
    ids=["no-yaml", "twice", "another-kind", "empty"],
)
def test_a_file_that_cannot_be_used_is_said_with_its_place(
    text: str, sentence: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "md.yaml"
    file.write_text(text)
    said = run(capsys, "render", "-f", file)
    assert (said.status, said.out) == (2, "")
    assert sentence in said.err


def test_a_deployment_without_a_name_is_wrong_use(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", {**PLAIN, "metadata": {"generateName": "chat-"}})
    said = rendered(capsys, tmp_path, file)
    assert (said.status, said.out) == (2, "")
    assert f"{file}:4:17: metadata.name is missing, and everything is named after it" in said.err


def test_a_fact_that_is_none_is_said_with_its_place(tmp_path: Path, capsys: Capture) -> None:
    broken = {"apiVersion": "worker.gpustack.ai/v1", "kind": "ModelArtifact", "metadata": {"name": "a"}, "spec": {}}
    facts = written(tmp_path / "broken.yaml", broken)
    said = rendered(capsys, tmp_path, deployment(tmp_path / "md.yaml"), "--facts", facts)
    assert said.status == 2
    assert f"{facts}:5:7: ModelArtifact a cannot be a fact: spec.source: Field required" in said.err


def test_several_deployments_are_printed_one_after_the_other(tmp_path: Path, capsys: Capture) -> None:
    both = written(tmp_path / "both.yaml", pair(None), changed(pair(None), {"metadata.name": "other"}))
    said = rendered(capsys, tmp_path, both)
    names = [each["metadata"]["name"] for each in yaml.safe_load_all(said.out) if each["kind"] == "Service"]
    assert names == ["qwen-pd", "qwen-pd-prefill", "qwen-pd-decode", "other", "other-prefill", "other-decode"]


def test_a_deployment_that_is_refused_keeps_the_others_from_nothing(tmp_path: Path, capsys: Capture) -> None:
    refused = changed(pair(None), {"metadata.name": "other", f"{ROLE}.size": 65})
    said = rendered(capsys, tmp_path, written(tmp_path / "both.yaml", refused, pair(None)))
    assert said.status == 1
    assert {each["metadata"]["labels"]["app.kubernetes.io/instance"] for each in yaml.safe_load_all(said.out)} == {
        "qwen-pd"
    }


texts = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["y", "No", "on", "1e3", "0x1f", "0o17", "017", "1_000", ".5", "~", "null", "2024-01-01", "=", "<<"]
    ),
    st.lists(st.text(alphabet=" a\n\t#:-", max_size=6), max_size=4).map("\n".join),
)
trees: st.SearchStrategy[Any] = st.recursive(
    st.one_of(texts, st.integers(-(2**53), 2**53), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=12,
)


@given(st.dictionaries(texts, trees, max_size=4))
def test_whatever_is_written_as_yaml_is_read_back_as_it_was(value: dict[str, Any]) -> None:
    written_ = emitting.dumped(value)
    assert yaml.safe_load(written_) == value
    (node,) = manifests._composed("x", written_)
    assert manifests._Reading("x").value(node) == value


def test_pods_of_thousands_are_rendered_one_at_a_time() -> None:
    body = pair(None)
    body["spec"]["roles"][0]["replicas"] = 1024
    bodies = emitting.bodies(expected(body), emitting.Selection(role="prefill"))
    assert json.loads(next(bodies))["kind"] == "Pod"
    printed = emitting.as_json(bodies)
    assert json.loads(next(printed))["metadata"]["labels"]["modeldeployment.gpustack.ai/pod-ordinal"] == "1"
