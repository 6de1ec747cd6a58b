"""What counts as drift of each kind, and what the API server adds without its being any (facts router-rendering §1)."""

import copy
from typing import Any

import pytest
from modeldeployment.reconcile import OwnedKind
from modeldeployment.reconcile.deciding.drifting import covers, drift, replaced
from modeldeployment.render import RouterRendering
from reconcile_worlds import pair, rendering

_ROUTER = rendering(pair()).router
assert isinstance(_ROUTER, RouterRendering)
BODIES: dict[str, dict[str, Any]] = {body["kind"]: body for body in _ROUTER.objects}


def stored(kind: str) -> dict[str, Any]:
    """A rendered object with what an API server fills in."""
    body = copy.deepcopy(BODIES[kind])
    body["metadata"] |= {"uid": "u", "resourceVersion": "7", "generation": 1}
    body["metadata"]["annotations"] |= {"deployment.kubernetes.io/revision": "1"}
    if kind == "Deployment":
        body["spec"] |= {
            "progressDeadlineSeconds": 600,
            "revisionHistoryLimit": 10,
            "strategy": {"type": "RollingUpdate"},
        }
        pod = body["spec"]["template"]["spec"]
        pod |= {"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler"}
        pod |= {"serviceAccount": pod["serviceAccountName"], "securityContext": {}}
        for container in pod["containers"]:
            container |= {"resources": {}, "terminationMessagePath": "/dev/termination-log"}
            container["readinessProbe"] |= {"timeoutSeconds": 1, "periodSeconds": 10}
            for port in container["ports"]:
                port.setdefault("protocol", "TCP")
        for volume in pod.get("volumes", []):
            volume["configMap"]["defaultMode"] = 420
    if kind == "Service":
        body["spec"] |= {"clusterIP": "10.0.0.9", "sessionAffinity": "None", "type": "ClusterIP"}
    if kind == "RoleBinding":
        body["subjects"][0].setdefault("apiGroup", "")
    return body


@pytest.mark.parametrize("kind", BODIES)
def test_what_the_api_server_fills_in_is_no_drift(kind: str) -> None:
    assert drift(OwnedKind(kind), BODIES[kind], stored(kind)) == {}


def test_every_owned_kind_has_its_drift() -> None:
    assert sorted(BODIES) == sorted(kind.value for kind in OwnedKind)


@pytest.mark.parametrize("kind", BODIES)
def test_a_lost_label_and_the_lost_note_come_back(kind: str) -> None:
    have = stored(kind)
    have["metadata"]["labels"] = {"team": "blue"}
    have["metadata"]["annotations"] = {}
    marks = {key: BODIES[kind]["metadata"][key] for key in ("labels", "annotations")}
    assert drift(OwnedKind(kind), BODIES[kind], have) == {"metadata": marks}


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("Role", "rules", [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch", "delete"]}]),
        ("Role", "rules", []),
        ("Role", "rules", None),
        ("RoleBinding", "subjects", []),
        ("RoleBinding", "subjects", [{"kind": "User", "name": "mallory"}]),
    ],
)
def test_changed_rules_and_subjects_are_set_back_whole(kind: str, field: str, value: object) -> None:
    have = {**stored(kind), field: value}
    assert drift(OwnedKind(kind), BODIES[kind], have) == {field: BODIES[kind][field]}


def test_the_data_of_a_config_map_is_ours_whole() -> None:
    want, have = BODIES["ConfigMap"], stored("ConfigMap")
    have["data"] = {**have["data"], "epp.yaml": "other", "more": "theirs"}
    assert drift(OwnedKind.CONFIG_MAP, want, have) == {"data": {**want["data"], "more": None}}


def _other_image(pod: dict[str, Any]) -> None:
    pod["containers"][1]["image"] = "theirs/picker:1"


def _more_environment(pod: dict[str, Any]) -> None:
    pod["containers"][1]["env"].append({"name": "DEBUG", "value": "1"})


def _one_container_more(pod: dict[str, Any]) -> None:
    pod["containers"].append({"name": "debug", "image": "busybox"})


def _no_arguments(pod: dict[str, Any]) -> None:
    del pod["containers"][0]["args"]


def _a_command_more(pod: dict[str, Any]) -> None:
    pod["containers"][0]["command"] = ["sh"]


def _environment_where_none_is_rendered(pod: dict[str, Any]) -> None:
    assert "env" not in pod["containers"][0]
    pod["containers"][0]["env"] = [{"name": "DEBUG", "value": "1"}]


@pytest.mark.parametrize(
    "harm",
    [
        _other_image,
        _more_environment,
        _one_container_more,
        _no_arguments,
        _a_command_more,
        _environment_where_none_is_rendered,
    ],
)
def test_changed_containers_are_set_back_whole(harm: Any) -> None:
    want, have = BODIES["Deployment"], stored("Deployment")
    harm(have["spec"]["template"]["spec"])
    containers = want["spec"]["template"]["spec"]["containers"]
    assert drift(OwnedKind.DEPLOYMENT, want, have) == {"spec": {"template": {"spec": {"containers": containers}}}}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("serviceAccountName", "default"),
        ("imagePullSecrets", [{"name": "theirs"}]),
        ("volumes", []),
        ("volumes", [{"name": "host", "hostPath": {"path": "/"}}]),
    ],
)
def test_what_a_routers_pods_may_do_is_set_back(field: str, value: object) -> None:
    want, have = BODIES["Deployment"], stored("Deployment")
    have["spec"]["template"]["spec"][field] = value
    patch = {"spec": {"template": {"spec": {field: want["spec"]["template"]["spec"].get(field)}}}}
    assert drift(OwnedKind.DEPLOYMENT, want, have) == patch


def test_the_count_and_the_marks_of_a_routers_pods_are_set_back() -> None:
    want, have = BODIES["Deployment"], stored("Deployment")
    have["spec"]["replicas"] = 0
    have["spec"]["template"]["metadata"]["annotations"] = {"kubectl.kubernetes.io/restartedAt": "now"}
    annotations = want["spec"]["template"]["metadata"]["annotations"]
    assert drift(OwnedKind.DEPLOYMENT, want, have) == {
        "spec": {"replicas": 1, "template": {"metadata": {"annotations": annotations}}}
    }


def test_a_restart_asked_for_with_kubectl_is_left_alone() -> None:
    have = stored("Deployment")
    have["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"] = "now"
    assert drift(OwnedKind.DEPLOYMENT, BODIES["Deployment"], have) == {}


def test_a_deployment_that_selects_other_pods_can_only_be_replaced() -> None:
    have = stored("Deployment")
    assert not replaced(OwnedKind.DEPLOYMENT, BODIES["Deployment"], have)
    have["spec"]["selector"]["matchLabels"]["modeldeployment.gpustack.ai/router"] = "vllm-router"
    assert replaced(OwnedKind.DEPLOYMENT, BODIES["Deployment"], have)
    assert not replaced(OwnedKind.SERVICE, BODIES["Service"], stored("ConfigMap"))


@pytest.mark.parametrize(
    ("want", "have", "covered"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": {"b": 1}}, {"a": {}}, False),
        ({"a": []}, {}, True),
        ({}, None, True),
        ({"a": 1}, None, False),
        ({"a": 1}, "text", False),
        ([1], [1, 2], False),
        ([{"a": 1}], [{"a": 1, "b": 2}], True),
        ([1], None, False),
        ("", None, True),
        (False, None, True),
        (1, None, False),
        (1, 2, False),
    ],
)
def test_what_is_wanted_must_be_in_what_is_there(want: object, have: object, covered: bool) -> None:
    assert covers(want, have) is covered
