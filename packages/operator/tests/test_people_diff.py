"""`kubectl md diff` without a cluster."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from modeldeployment.admission.examples import CLUSTER, GONE, changed
from modeldeployment.api import keys
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.operator.people import contrasting, foretelling
from modeldeployment.operator.people.rendering import Sources
from modeldeployment.render import RenderRefusal
from modeldeployment.render.differing import Foreseen, Objects, RouterForeseen
from people_worlds import DOCUMENTS, Said, cluster, run, written

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def pair() -> dict[str, Any]:
    """The complete example of document 2 with an image, on a known type."""
    body: dict[str, Any] = yaml.safe_load((DOCUMENTS / "2-pair.yaml").read_text(encoding="utf-8"))
    body["spec"]["engine"]["image"] = "registry/runner:1"
    for role in body["spec"]["roles"]:
        role.update(instanceType="h20-8x")
    return body


def told(capsys: Capture, tmp_path: Path, old: Any, edit: dict[str, Any], *arguments: str) -> Said:
    """What `diff` says of an edit."""
    files = [written(tmp_path / "old.yaml", old), written(tmp_path / "new.yaml", changed(old, edit))]
    return run(capsys, "diff", *files, "--facts", cluster(tmp_path / "facts.yaml"), *arguments)


def document(capsys: Capture, tmp_path: Path, old: Any, edit: dict[str, Any]) -> dict[str, Any]:
    """The same for programs."""
    found: dict[str, Any] = json.loads(told(capsys, tmp_path, old, edit, "-o", "json").out)
    return found


def test_an_edit_of_nothing_changes_nothing(pair: Any, tmp_path: Path, capsys: Capture) -> None:
    said = told(capsys, tmp_path, pair, {"metadata.labels": {"team": "a"}})
    assert (said.status, said.lines) == (
        0,
        ["role prefill: nothing", "role decode: nothing", "router: nothing", "Pods: 0 replaced, 0 created, 0 deleted"],
    )


def test_a_default_that_is_written_out_changes_nothing(pair: Any, tmp_path: Path, capsys: Capture) -> None:
    assert told(capsys, tmp_path, pair, {"spec.roles[0].size": 1, "spec.roles[1].privileged": False}).status == 0


def test_a_count_only_scales(pair: Any, tmp_path: Path, capsys: Capture) -> None:
    said = told(capsys, tmp_path, pair, {"spec.roles[1].replicas": 3})
    assert said.status == 1
    assert said.lines == [
        "role prefill: nothing",
        "role decode: scale only (2 → 3): 1 Pod created",
        "router: nothing",
        "Pods: 0 replaced, 1 created, 0 deleted",
    ]


def test_an_image_rolls_and_the_field_behind_it_is_told(pair: Any, tmp_path: Path, capsys: Capture) -> None:
    said = told(capsys, tmp_path, pair, {"spec.roles[0].image": "registry/runner:2"})
    assert said.lines == [
        "role prefill: rolls one by one (changed: spec.roles[prefill].image): 2 Pods replaced",
        '  spec.containers[main].image: "registry/runner:1" → "registry/runner:2"',
        "role decode: nothing",
        "router: nothing",
        "Pods: 2 replaced, 0 created, 0 deleted",
    ]


def test_json_has_exactly_these_keys(pair: Any, tmp_path: Path, capsys: Capture) -> None:
    found = document(capsys, tmp_path, pair, {"spec.roles[0].image": "b:2", "spec.roles[0].replicas": 1})
    assert found == {
        "roles": [
            {
                "name": "prefill",
                "outcome": "rolls",
                "changed": ["spec.roles[prefill].image"],
                "replicas": [2, 1],
                "podsReplaced": 1,
                "podsCreated": 0,
                "podsDeleted": 1,
                "values": [
                    {
                        "path": "spec.containers[main].image",
                        "old": "registry/runner:1",
                        "new": "b:2",
                        "part": "overlay",
                    }
                ],
            },
            {
                "name": "decode",
                "outcome": "nothing",
                "changed": [],
                "replicas": [2, 2],
                "podsReplaced": 0,
                "podsCreated": 0,
                "podsDeleted": 0,
                "values": [],
            },
        ],
        "router": {
            "outcome": "nothing",
            "changed": [],
            "replicas": [1, 1],
            "podsRestarted": 0,
            "objects": {"created": [], "deleted": [], "changed": []},
        },
        "services": {"created": [], "deleted": [], "changed": []},
        "podsTurnedOver": 1,
        "podsCreated": 0,
        "podsDeleted": 1,
        "refusals": [],
    }


def test_a_router_that_goes_takes_its_objects_and_unties_the_pair(pair: Any, tmp_path: Path, capsys: Capture) -> None:
    found = document(capsys, tmp_path, pair, {"spec.router": GONE})
    assert found["router"]["outcome"] == "deleted"
    assert found["router"]["objects"]["deleted"] == [
        f"{kind}/qwen-pd-router"
        for kind in ("ServiceAccount", "Role", "RoleBinding", "ConfigMap", "Service", "Deployment")
    ]
    assert [(role["outcome"], role["changed"]) for role in found["roles"]] == [("rolls", ["spec.router"])] * 2
    assert found["podsTurnedOver"] == 4


def test_a_routers_arguments_restart_it_and_no_replica(pair: Any, tmp_path: Path, capsys: Capture) -> None:
    edit = {"spec.router.extraArgs": ["--v=5"], "spec.router.replicas": 2}
    found = document(capsys, tmp_path, pair, edit)
    assert (found["podsTurnedOver"], found["router"]["outcome"]) == (0, "restarts")
    assert (found["router"]["podsRestarted"], found["router"]["replicas"]) == (2, [1, 2])
    assert "spec.router.extraArgs" in found["router"]["changed"]
    assert found["router"]["objects"]["changed"] == ["ConfigMap/qwen-pd-router", "Deployment/qwen-pd-router"]


def test_a_routers_count_restarts_nothing(pair: Any, tmp_path: Path, capsys: Capture) -> None:
    said = told(capsys, tmp_path, pair, {"spec.router.replicas": 2})
    assert (said.status, "router: scale only (1 → 2)" in said.lines) == (1, True)


def test_a_transport_changes_both_halves(pair: Any, tmp_path: Path, capsys: Capture) -> None:
    found = document(capsys, tmp_path, pair, {"spec.kvTransfer": {"protocol": "RDMA"}})
    assert [role["changed"] for role in found["roles"]] == [["spec.kvTransfer"]] * 2


def test_a_frozen_field_is_refused_and_no_pod_is_touched(pair: Any, tmp_path: Path, capsys: Capture) -> None:
    edit = {"spec.roles[1].size": 2, "spec.roles[1].image": "b:2"}
    said = told(capsys, tmp_path, pair, edit)
    assert said.status == 3
    assert "refused MD033 spec.roles[1].size" in said.out
    assert said.lines[-1] == "refused: the edit is not let in, so no Pod is touched"
    found = document(capsys, tmp_path, pair, edit)
    assert [role["outcome"] for role in found["roles"]] == ["refused", "refused"]
    assert (found["podsTurnedOver"], [each["code"] for each in found["refusals"]]) == (0, ["MD033"])


def test_the_fence_of_a_scaler_refuses_a_count(pair: Any, tmp_path: Path, capsys: Capture) -> None:
    claim = json.dumps({"scalerName": "s", "scalerUID": "u", "term": 1})
    bound = changed(pair, {"metadata.annotations": {keys.SCALER_BINDING: claim}})
    found = document(capsys, tmp_path, bound, {"spec.roles[1].replicas": 3})
    assert [(each["code"], each["field"]) for each in found["refusals"]] == [("MD041", "spec.roles[1].replicas")]
    assert found["roles"][1]["outcome"] == "refused"


def test_what_cannot_be_rendered_any_more_is_refused_by_the_renderer(
    pair: Any, tmp_path: Path, capsys: Capture
) -> None:
    (known,) = (each for each in CLUSTER if each["metadata"]["name"] == "h20-8x")
    facts = written(tmp_path / "types.yaml", changed(known, {"status.detail.runtimeVersions": []}))
    old = changed(pair, {"spec.engine.version": "0.30.0"})
    files = [written(tmp_path / "a.yaml", old), written(tmp_path / "b.yaml", changed(old, {"spec.engine.image": GONE}))]
    said = run(capsys, "diff", *files, "--facts", facts)
    assert said.status == 3
    assert "not rendered: RuntimeVersionNotObserved: " in said.lines[0]
    assert "(this may resolve by itself" in said.lines[0]
    found = json.loads(run(capsys, "diff", *files, "--facts", facts, "-o", "json").out)
    assert [(each["code"], each["field"], each["mayResolve"]) for each in found["refusals"]] == [
        ("RuntimeVersionNotObserved", "spec.roles[prefill]", True)
    ]


def test_a_router_that_cannot_front_the_edit_is_refused_alone(pair: Any, tmp_path: Path) -> None:
    file = str(written(tmp_path / "md.yaml", pair))
    told_ = foretelling.foretell(file, file, Sources(facts=[str(cluster(tmp_path / "facts.yaml"))]))
    refusal = RenderRefusal(RefusalReason.ROUTER_PORTS_DIFFER, None, "they differ")
    assert told_.foreseen is not None
    router = RouterForeseen(Objects(), (1, 1), restarts=False, refused=refusal)
    refused = replace(told_, foreseen=Foreseen(told_.foreseen.roles, Objects(), router))
    assert (told_.refused, refused.refused) == (False, True)
    assert (
        "router: refused: not rendered: RouterPortsDiffer: they differ (this does not resolve by itself); replicas are "
        "served, and a router that runs is left as it is"
    ) in list(contrasting.for_people(refused, colours=False))
    found = json.loads(contrasting.for_programs(refused))
    assert [role["outcome"] for role in found["roles"]] == ["nothing", "nothing"]
    assert found["router"]["outcome"] == "refused"
    assert [(each["code"], each["field"], each["mayResolve"]) for each in found["refusals"]] == [
        ("RouterPortsDiffer", "spec.router", False)
    ]


def test_an_old_object_that_cannot_be_rendered_is_wrong_use(pair: Any, tmp_path: Path, capsys: Capture) -> None:
    file = written(tmp_path / "old.yaml", pair)
    said = run(capsys, "diff", file, file)
    assert (said.status, said.out) == (2, "")
    assert f"{file} cannot be rendered, so what runs now is not known: InstanceTypeNotFound: " in said.err


def test_two_deployments_are_not_compared(pair: Any, tmp_path: Path, capsys: Capture) -> None:
    said = told(capsys, tmp_path, pair, {"metadata.name": "other"})
    assert said.status == 2
    assert "new.yaml:4:9: team-a/other is another deployment than team-a/qwen-pd in " in said.err


def test_a_deployment_without_a_name_is_wrong_use(pair: Any, tmp_path: Path, capsys: Capture) -> None:
    said = told(capsys, tmp_path, pair, {"metadata.name": GONE})
    assert (said.status, "new.yaml:3:1: metadata.name is missing" in said.err) == (2, True)


def test_a_file_holds_exactly_one_deployment(pair: Any, tmp_path: Path, capsys: Capture) -> None:
    one = written(tmp_path / "one.yaml", pair)
    two = written(tmp_path / "two.yaml", pair, changed(pair, {"metadata.name": "other"}))
    none = written(tmp_path / "none.yaml", *CLUSTER[:1])
    assert "two.yaml:28:1: " in (said := run(capsys, "diff", one, two)).err
    assert "holds 2 deployments (qwen-pd, other); diff compares one" in said.err
    assert "there is no ModelDeployment in" in run(capsys, "diff", none, one).err


def test_an_old_object_that_cannot_be_read_is_said_with_its_place(pair: Any, tmp_path: Path, capsys: Capture) -> None:
    broken = changed(pair, {"spec.roles[0].replicas": "two"})
    said = told(capsys, tmp_path, broken, {"spec.roles[0].replicas": 1})
    assert said.status == 2
    assert "old.yaml:17:15: spec.roles.0.replicas cannot be read: " in said.err
