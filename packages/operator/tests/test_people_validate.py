"""`kubectl md validate` without a cluster."""

import io
from pathlib import Path

import pytest
import yaml
from modeldeployment.admission.examples import DEPLOYMENT, GONE, SCALER, changed
from people_worlds import cluster, deployment, run, written

Capture = pytest.CaptureFixture[str]
ROLE = "spec.roles[0]"


def test_an_object_that_is_let_in_is_tallied(tmp_path: Path, capsys: Capture) -> None:
    said = run(capsys, "validate", "-f", deployment(tmp_path / "md.yaml"), "--facts", cluster(tmp_path / "facts.yaml"))
    assert (said.status, said.err) == (0, "")
    assert said.lines == ["1 object: 1 allowed, 0 refused (0 refusals, 0 warnings)"]


def test_a_refusal_stands_at_its_line_and_column_with_the_way_out_below(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", {f"{ROLE}.env": [{"name": "MOONCAKE_CONFIG_PATH", "value": "/x"}]})
    said = run(capsys, "validate", "-f", file)
    assert said.status == 1
    line, hint, *rest = said.lines
    assert line.startswith(f"{file}:22:7: refused MD013 {ROLE}.env[0]: Forbidden: ")
    assert hint.startswith("hint: ")
    assert "command" in hint
    assert rest[-1] == "1 object: 0 allowed, 1 refused (1 refusal, 0 warnings)"


def test_a_missing_field_stands_at_what_should_hold_it(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", {f"{ROLE}.instanceType": GONE})
    assert run(capsys, "validate", "-f", file).lines[0] == (
        f"{file}:16:5: refused MD902 {ROLE}.instanceType: Required value: {ROLE} needs instanceType"
    )


def test_everything_that_is_wrong_comes_together_in_field_order(tmp_path: Path, capsys: Capture) -> None:
    changes = {"spec.engnie": {}, f"{ROLE}.size": 65, f"{ROLE}.kind": "server", "spec.model.name": ""}
    (found,) = run(capsys, "validate", "-f", deployment(tmp_path / "md.yaml", changes), "-o", "json").objects
    assert [(each["code"], each["field"]) for each in found["refusals"]] == [
        ("MD908", "spec.model.name"),
        ("MD905", f"{ROLE}.kind"),
        ("MD904", f"{ROLE}.size"),
        ("MD901", "spec.engnie"),
    ]


def test_an_unknown_field_does_not_silence_the_rules(tmp_path: Path, capsys: Capture) -> None:
    changes = {f"{ROLE}.template": {}, f"{ROLE}.extraArgs": ["--kv-transfer-config={}"]}
    (found,) = run(capsys, "validate", "-f", deployment(tmp_path / "md.yaml", changes), "-o", "json").objects
    assert [(each["code"], each["field"]) for each in found["refusals"]] == [
        ("MD012", f"{ROLE}.extraArgs[0]"),
        ("MD901", f"{ROLE}.template"),
    ]


def test_json_has_exactly_these_keys(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", {f"{ROLE}.extraArgs": ["--kv-transfer-config={}"]})
    (found,) = run(capsys, "validate", "-f", file, "-o", "json").objects
    assert list(found)[:6] == ["kind", "name", "allowed", "refusals", "warnings", "defaulted"]
    (refusal,) = found["refusals"]
    assert list(refusal) == ["code", "field", "value", "message", "wayOut", "patch"]
    assert (found["kind"], found["name"], found["allowed"]) == ("ModelDeployment", "qwen-72b", False)
    assert refusal["patch"] == [{"op": "remove", "path": "/spec/roles/0/extraArgs/0"}]


def test_json_shows_the_object_with_every_default(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", {f"{ROLE}.resources": GONE, f"{ROLE}.replicas": None})
    facts = cluster(tmp_path / "facts.yaml")
    (found,) = run(capsys, "validate", "-f", file, "--facts", facts, "-o", "json").objects
    assert found["defaulted"]["spec"]["roles"] == [
        {
            "name": "server",
            "kind": "Server",
            "replicas": 1,
            "size": 1,
            "instanceType": "h20-8x",
            "resources": {"accelerator": 1},
        }
    ]


def test_what_was_not_given_is_not_judged_and_said_so(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", {f"{ROLE}.resources.accelerator": 9})
    said = run(capsys, "validate", "-f", file)
    assert said.status == 0
    assert said.lines[:2] == [
        "not checked: InstanceType h20-8x (pass --facts or --cluster)",
        "not checked: KVCachePoolBinding shared-kv (pass --facts or --cluster)",
    ]
    (found,) = run(capsys, "validate", "-f", file, "-o", "json").objects
    assert found["unread"] == ["InstanceType h20-8x", "KVCachePoolBinding shared-kv"]


def test_what_was_given_is_judged(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", {f"{ROLE}.resources.accelerator": 9})
    said = run(capsys, "validate", "-f", file, "--facts", cluster(tmp_path / "facts.yaml"))
    assert said.status == 1
    assert f"refused MD035 {ROLE}.resources.accelerator" in said.lines[0]


def test_a_cache_that_is_given_by_half_is_not_judged_and_the_missing_half_named(
    tmp_path: Path, capsys: Capture
) -> None:
    facts = cluster(tmp_path / "facts.yaml")
    half = [each for each in yaml.safe_load_all(facts.read_text()) if each["kind"] != "KVCacheBackend"]
    file = deployment(tmp_path / "md.yaml")
    (found,) = run(capsys, "validate", "-f", file, "--facts", written(facts, *half), "-o", "json").objects
    assert found["unread"] == ["KVCacheBackend mooncake"]


def test_facts_of_another_namespace_are_not_looked_at(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", {"metadata.namespace": "team-b"})
    facts = cluster(tmp_path / "facts.yaml")
    (found,) = run(capsys, "validate", "-f", file, "--facts", facts, "-o", "json").objects
    assert found["unread"] == ["KVCachePoolBinding shared-kv"]


def test_an_instance_type_that_nobody_has_observed_keeps_an_object_from_being_judged(
    tmp_path: Path, capsys: Capture
) -> None:
    slicing = {"accelerator": 1, "acceleratorSlicedMemoryPercentage": 50}
    file = deployment(tmp_path / "md.yaml", {f"{ROLE}.instanceType": "unobserved", f"{ROLE}.resources": slicing})
    said = run(capsys, "validate", "-f", file, "--facts", cluster(tmp_path / "facts.yaml"))
    assert said.status == 1
    assert f"not ready {ROLE}" in said.lines[0]
    assert "unobserved" in said.lines[0]


def test_a_scaler_knows_the_target_beside_it(tmp_path: Path, capsys: Capture) -> None:
    scaler = changed(SCALER, {"spec.roles[1]": {"name": "decode", "maxReplicas": 2}})
    both = written(tmp_path / "both.yaml", changed(DEPLOYMENT, {}), scaler)
    said = run(capsys, "validate", "-f", both)
    assert said.status == 1
    assert "refused MD143 spec.roles[1].name" in said.lines[0]
    assert "not checked: ModelDeployment" not in said.out


def test_an_update_is_judged_against_the_stored_object(tmp_path: Path, capsys: Capture) -> None:
    old, new = deployment(tmp_path / "old.yaml"), deployment(tmp_path / "new.yaml", {f"{ROLE}.size": 2})
    said = run(capsys, "validate", "-f", new, "--old", old)
    assert said.status == 1
    assert f"refused MD033 {ROLE}.size" in said.lines[0]
    assert run(capsys, "validate", "-f", old, "--old", old).status == 0


def test_an_update_whose_stored_object_is_not_given_is_judged_as_a_create_and_said_so(
    tmp_path: Path, capsys: Capture
) -> None:
    old = deployment(tmp_path / "old.yaml", {"metadata.name": "other"})
    said = run(capsys, "validate", "-f", deployment(tmp_path / "new.yaml"), "--old", old)
    assert said.status == 0
    assert said.err == f"kubectl md: ModelDeployment qwen-72b is not in {old}: judged as a create\n"


def test_what_a_stored_object_has_already_stays_but_for_unknown_fields(tmp_path: Path, capsys: Capture) -> None:
    facts = yaml.safe_load_all(cluster(tmp_path / "facts.yaml").read_text())
    kept = changed(next(each for each in facts if each["kind"] == "InstanceType"), {"spec.os": "l" * 254})
    old = written(tmp_path / "old.yaml", kept)
    named, unknown = changed(kept, {"spec.displayName": "H20"}), changed(kept, {"spec.foo": 1})
    assert run(capsys, "validate", "-f", written(tmp_path / "new.yaml", named), "--old", old).status == 0
    said = run(capsys, "validate", "-f", written(tmp_path / "new.yaml", unknown), "--old", old, "-o", "json")
    assert [each["field"] for each in said.objects[0]["refusals"]] == ["spec.foo"]


def test_only_the_operator_writes_its_annotations(tmp_path: Path, capsys: Capture) -> None:
    claim = '{"scalerName":"qwen-72b","scalerUID":"u","term":1}'
    annotations = {"modeldeployment.gpustack.ai/scaler-binding": claim}
    file = deployment(tmp_path / "md.yaml", {"metadata.annotations": annotations})
    assert run(capsys, "validate", "-f", file).status == 1
    assert run(capsys, "validate", "-f", file, "--user", "user").status == 1
    assert run(capsys, "validate", "-f", file, "--user", "operator").status == 0


def test_host_access_hangs_on_the_settings_given(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml", {f"{ROLE}.privileged": True})
    settings = tmp_path / "settings.yaml"
    settings.write_text("instance-privileged-allowed: true\n")
    assert run(capsys, "validate", "-f", file).status == 1
    assert run(capsys, "validate", "-f", file, "--settings", settings).status == 0


def test_kinds_of_others_are_passed_over_and_said_once(tmp_path: Path, capsys: Capture) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}
    file = written(tmp_path / "all.yaml", service, changed(DEPLOYMENT, {}), service)
    said = run(capsys, "validate", "-f", file)
    assert said.status == 0
    assert said.err == "kubectl md: passed over, not of worker.gpustack.ai: Service\n"
    assert said.lines[-1] == "1 object: 1 allowed, 0 refused (0 refusals, 0 warnings)"


def test_a_file_with_nothing_of_ours_is_wrong_use(tmp_path: Path, capsys: Capture) -> None:
    file = written(tmp_path / "service.yaml", {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}})
    said = run(capsys, "validate", "-f", file)
    assert (said.status, said.out) == (2, "")
    assert said.err == f"kubectl md: there is no object of worker.gpustack.ai in {file}, only Service\n"


def test_a_kind_or_a_version_of_ours_that_is_none_is_refused(tmp_path: Path, capsys: Capture) -> None:
    kind, version = {"kind": "ModelDeploymnt"}, {"apiVersion": "worker.gpustack.ai/v1alpha1"}
    file = written(tmp_path / "all.yaml", changed(DEPLOYMENT, kind), changed(DEPLOYMENT, version))
    said = run(capsys, "validate", "-f", file, "-o", "json")
    assert said.status == 1
    assert [[each["code"] for each in found["refusals"]] for found in said.objects] == [["MD909"], ["MD909"]]


def test_the_other_kinds_are_held_to_their_schema_and_its_cross_field_rules(tmp_path: Path, capsys: Capture) -> None:
    facts = yaml.safe_load_all(cluster(tmp_path / "facts.yaml").read_text())
    pool = next(each for each in facts if each["kind"] == "KVCachePool")
    two = changed(pool, {"spec.backends[1]": {"name": "other"}, "spec.quota.totl": 1})
    (found,) = run(capsys, "validate", "-f", written(tmp_path / "pool.yaml", two), "-o", "json").objects
    assert [each["code"] for each in found["refusals"]] == ["MD205", "MD901"]


def test_standard_input_is_a_file_too(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    text = deployment(tmp_path / "md.yaml", {f"{ROLE}.replicas": 0}).read_text()
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    said = run(capsys, "validate", "-f", "-")
    assert said.status == 1
    assert said.lines[0].startswith("<stdin>:")


def test_a_directory_and_several_files_are_judged_in_one_go(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "all").mkdir()
    deployment(tmp_path / "all" / "a.yaml")
    deployment(tmp_path / "all" / "b.json", {"metadata.name": "other"})
    lone = written(tmp_path / "scaler.yaml", SCALER)
    said = run(capsys, "validate", "-f", tmp_path / "all", "-f", lone)
    assert said.lines[-1].startswith("3 objects: 3 allowed")


def test_a_fact_that_is_not_what_its_kind_says_is_wrong_use(tmp_path: Path, capsys: Capture) -> None:
    broken = {"apiVersion": "worker.gpustack.ai/v1", "kind": "InstanceType", "metadata": {"name": "a"}, "spec": {}}
    facts = written(tmp_path / "facts.yaml", broken)
    said = run(capsys, "validate", "-f", deployment(tmp_path / "md.yaml"), "--facts", facts)
    assert (said.status, said.out) == (2, "")
    assert said.err == f"kubectl md: {facts}:1:1: InstanceType a cannot be a fact: spec.os: Field required\n"


def test_a_kubeconfig_that_is_none_is_wrong_use(tmp_path: Path, capsys: Capture) -> None:
    file = deployment(tmp_path / "md.yaml")
    said = run(capsys, "validate", "-f", file, "--cluster", "--kubeconfig", tmp_path / "none")
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith(f"kubectl md: kubeconfig {tmp_path / 'none'}: ")


def test_a_cluster_that_does_not_answer_is_told_and_nothing_judged(tmp_path: Path, capsys: Capture) -> None:
    access = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "a", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "a", "user": {}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "current-context": "a",
    }
    kubeconfig = written(tmp_path / "kubeconfig", access)
    file = deployment(tmp_path / "md.yaml")
    said = run(capsys, "validate", "-f", file, "--cluster", "--kubeconfig", kubeconfig)
    assert (said.status, said.out) == (2, "")
    assert "no answer from http://127.0.0.1:1" in said.err
    assert "hint: check that the server runs" in said.err


def test_colours_are_for_terminals(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    file = deployment(tmp_path / "md.yaml", {f"{ROLE}.replicas": 0})
    assert "\x1b" not in run(capsys, "validate", "-f", file).out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "\x1b[31m" in run(capsys, "validate", "-f", file).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run(capsys, "validate", "-f", file).out


def test_what_keeps_an_object_from_being_read_does_not_silence_the_rules_where_it_can_be_settled(
    tmp_path: Path, capsys: Capture
) -> None:
    changes = {"spec.engine.name": "vllm", f"{ROLE}.extraArgs": ["--kv-transfer-config={}"]}
    (found,) = run(capsys, "validate", "-f", deployment(tmp_path / "md.yaml", changes), "-o", "json").objects
    assert [(each["code"], each["field"]) for each in found["refusals"]] == [
        ("MD905", "spec.engine.name"),
        ("MD012", f"{ROLE}.extraArgs[0]"),
    ]
    assert found["defaulted"]["spec"]["engine"]["name"] == "vllm"
