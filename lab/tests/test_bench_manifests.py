from typing import Any

from modeldeployment.api import keys
from modeldeployment.api.instancetype import InstanceType
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.lab.bench import manifests, operating, peering, rendering
from modeldeployment.render import RoleRendering, RouterRendering, Seat, render


def role(replicas: int) -> RoleRendering:
    known = InstanceType.model_validate(
        {
            "metadata": {"name": "a10g"},
            "spec": {
                "acceleratable": True,
                "acceleratorGroup": "nvidia-a10g",
                "os": "linux",
                "arch": "amd64",
                "unitResources": {"cpu": "4", "ram": "16Gi"},
                "localStorage": "100Gi",
            },
            "status": {
                "entrance": "queue",
                "detail": {"manufacturer": "nvidia", "family": "ampere", "memory": "24Gi", "runtimeVersions": ["12.9"]},
            },
        }
    )
    manifest = manifests.deployment("many", "bench", "a10g", replicas=replicas)
    manifest["metadata"]["uid"] = "5f7c1f2e-0000-4000-8000-000000000001"
    return manifests.rendered(ModelDeployment.model_validate(manifest), known)


def job_template(replicas: int) -> dict[str, Any]:
    template: dict[str, Any] = peering.job("peer", role(replicas), queued=True)["spec"]["template"]
    return template


def test_there_is_one_body_for_each_replica() -> None:
    bodies = manifests.bodies(role(3))
    assert len(set(bodies)) == 3


def test_a_job_makes_as_many_pods_through_the_same_queue() -> None:
    spec = peering.job("peer", role(7), queued=True)["spec"]
    assert (spec["completions"], spec["parallelism"], spec["completionMode"]) == (7, 7, "Indexed")
    assert spec["template"]["metadata"]["labels"][keys.QUEUE_NAME] == "queue"


def test_pods_of_a_job_share_no_group_and_are_none_of_the_operators() -> None:
    metadata = job_template(2)["metadata"]
    assert keys.GROUP_NAME not in metadata["labels"]
    assert keys.GROUP_TOTAL not in metadata["annotations"]
    assert keys.NAME not in metadata["labels"]
    assert "ownerReferences" not in metadata


def test_pods_of_a_job_may_end() -> None:
    assert job_template(2)["spec"]["restartPolicy"] == "Never"


def test_pods_that_no_queue_holds_have_a_gate_of_their_own() -> None:
    template = peering.leader_worker_set("peer", role(4), queued=False)["spec"]["leaderWorkerTemplate"][
        "workerTemplate"
    ]
    assert template["spec"]["schedulingGates"] == [{"name": peering.GATE}]
    assert keys.QUEUE_NAME not in template["metadata"]["labels"]


def test_a_stateful_set_selects_the_pods_of_its_template() -> None:
    spec = peering.stateful_set("peer", role(4), queued=True)["spec"]
    assert spec["template"]["metadata"]["labels"].items() >= spec["selector"]["matchLabels"].items()
    assert (spec["replicas"], spec["podManagementPolicy"]) == (4, "Parallel")


def test_roles_of_one_deployment_differ_by_name_alone() -> None:
    first, second = manifests.deployment("pair", "bench", "a10g", replicas=2, roles=("a", "b"))["spec"]["roles"]
    assert {**first, "name": "b"} == second


def test_the_operators_series_are_read_without_prefix_and_labels_summed() -> None:
    exposition = (
        "# HELP modeldeployment_passes_total Passes.\n"
        "modeldeployment_passes_total 3.0\n"
        'modeldeployment_store_objects{kind="pods"} 10.0\n'
        'modeldeployment_store_objects{kind="services"} 2.0\n'
        "process_cpu_seconds_total 1.5\n"
    )
    assert operating.series(exposition) == {"passes_total": 3.0, "store_objects": 12.0}


def test_a_small_role_renders_and_every_value_of_the_contract_is_measured() -> None:
    measured = rendering.measure(2)
    ids = ["render-65536-seconds", "render-65536-mib", "render-pair-ms", "render-import-ms"]
    assert [value.measurement.id for value in measured] == ids
    assert all(value.value > 0 for value in measured)
    assert measured[0].against.startswith("128 seats, ")


def test_the_pair_that_is_measured_has_ten_roles_a_store_and_a_router() -> None:
    deployment, facts = rendering.ten_halves()
    rendered = render(deployment, facts)
    assert len(rendered.roles) == 10
    assert isinstance(rendered.router, RouterRendering)
    assert all(
        keys.CLIENT_CONFIG in role.template.pod(Seat(0, 0))["metadata"]["annotations"] for role in rendered.roles
    )
