from modeldeployment.render import Seat
from render_worlds import main, one_pod, one_role

INDEX = {"fieldRef": {"fieldPath": "metadata.labels['modeldeployment.gpustack.ai/member-index']"}}


def test_d7_a_member_is_told_its_leader_its_replicas_size_and_where_to_read_its_index() -> None:
    pod = one_role(size=3, replicas=3, env=[{"name": "A", "value": "1"}]).template.pod(Seat(2, 1))
    assert main(pod)["env"] == [
        {"name": "A", "value": "1"},
        {"name": "GPUSTACK_REPLICA_LEADER_ADDRESS", "value": "qwen-server-r2-m0.qwen-server-r2"},
        {"name": "GPUSTACK_REPLICA_SIZE", "value": "3"},
        {"name": "GPUSTACK_MEMBER_INDEX", "valueFrom": INDEX},
    ]
    assert pod["metadata"]["labels"]["modeldeployment.gpustack.ai/member-index"] == "1"


def test_d8_a_replica_of_one_pod_has_no_member_variables() -> None:
    assert "env" not in main(one_pod(size=1))


def test_d4_a_variable_nobody_owns_passes_through() -> None:
    env = [{"name": "VLLM_LOGGING_LEVEL", "value": "DEBUG"}]
    assert main(one_pod(env=env))["env"] == env


def test_owned_names_are_dropped_on_the_engine_that_owns_them_and_nowhere_else() -> None:
    env = [
        {"name": "MOONCAKE_CONFIG_PATH", "value": "/tmp/mine.json"},
        {"name": "MOONCAKE_TENANT_ID", "value": "theirs"},
        {"name": "GPUSTACK_MEMBER_INDEX", "value": "9"},
    ]
    assert main(one_pod("vLLM", env=env))["env"] == [{"name": "MOONCAKE_TENANT_ID", "value": "theirs"}]
    assert main(one_pod("SGLang", env=env))["env"] == [{"name": "MOONCAKE_CONFIG_PATH", "value": "/tmp/mine.json"}]


def test_a_taken_over_role_gets_its_own_variables_and_the_members() -> None:
    env = [{"name": "MOONCAKE_CONFIG_PATH", "value": "/x"}, {"name": "MINE", "value": "1"}]
    names = [entry["name"] for entry in main(one_pod(command=["run"], size=2, env=env))["env"]]
    assert names == ["MINE", "GPUSTACK_REPLICA_LEADER_ADDRESS", "GPUSTACK_REPLICA_SIZE", "GPUSTACK_MEMBER_INDEX"]


def test_the_order_of_a_roles_variables_is_kept() -> None:
    env = [{"name": name, "value": "x"} for name in ("B", "A", "C")]
    assert main(one_pod(env=env))["env"] == env
