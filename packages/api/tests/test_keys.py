import re
from enum import StrEnum

from modeldeployment.api import keys, kueue

QUALIFIED = re.compile(r"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+/)[A-Za-z0-9][-A-Za-z0-9_.]*")
PLAIN = {
    "GROUP",
    "VERSION",
    "API_VERSION",
    "CATEGORY",
    "FIELD_MANAGER",
    "NAME_VALUE",
    "PART_OF_VALUE",
    "RESOURCE_TYPE_VALUE",
    "TRUE",
}


def written() -> dict[str, str]:
    return {name: value for name, value in vars(keys).items() if name.isupper() and isinstance(value, str)}


def test_every_key_is_a_qualified_name_that_kubernetes_accepts() -> None:
    qualified = {name: value for name, value in written().items() if name not in PLAIN}
    assert [name for name, value in qualified.items() if not QUALIFIED.fullmatch(value)] == []
    assert [name for name, value in qualified.items() if len(value.partition("/")[2]) > 63] == []


def test_no_two_names_stand_for_one_key() -> None:
    values = list(written().values())
    assert sorted(values) == sorted(set(values))


def test_the_version_of_our_group_is_spelled_the_same_everywhere() -> None:
    assert f"{keys.GROUP}/{keys.VERSION}" == keys.API_VERSION
    assert f"{kueue.GROUP}/{kueue.VERSION}" == kueue.API_VERSION


def test_the_keys_a_pod_group_lives_by_are_kueue_s_own() -> None:
    assert keys.QUEUE_NAME == "kueue.x-k8s.io/queue-name"
    assert keys.GROUP_NAME == "kueue.x-k8s.io/pod-group-name"
    assert keys.GROUP_TOTAL == "kueue.x-k8s.io/pod-group-total-count"
    assert keys.ROLE_HASH == "kueue.x-k8s.io/role-hash"
    assert keys.GROUP_SERVING == "kueue.x-k8s.io/pod-group-serving"
    assert keys.REQUIRED_TOPOLOGY == "kueue.x-k8s.io/podset-required-topology"


def test_kueue_s_words_are_enums_of_distinct_words() -> None:
    enums = [value for value in vars(kueue).values() if isinstance(value, type) and issubclass(value, StrEnum)]
    assert {enum.__name__ for enum in enums if enum is not StrEnum} == {
        "WorkloadCondition",
        "EvictionReason",
        "CheckState",
        "QueueCondition",
        "StopPolicy",
    }
