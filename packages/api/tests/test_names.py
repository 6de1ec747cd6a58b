import pytest
from modeldeployment.api import names


@pytest.mark.parametrize(
    ("role", "ordinal", "expected"),
    [
        ("server", 0, "gpustack-fnv64-bdf8eb21739dcea9"),
        ("server", 1, "gpustack-fnv64-bdf8ea21739dccf6"),
        ("prefill", 0, "gpustack-fnv64-d8143bebd0d350d8"),
        ("decode", 0, "gpustack-fnv64-058a40297d4ce6a4"),
    ],
)
def test_a_replica_s_group_is_the_hash_of_its_seat(role: str, ordinal: int, expected: str) -> None:
    assert names.group_name("team-a", "qwen", role, ordinal) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"", 0xCBF29CE484222325), (b"a", 0xAF63DC4C8601EC8C), (b"foobar", 0x85944171F73967E8)],
)
def test_the_hash_is_fnv_1a_64_as_published(data: bytes, expected: int) -> None:
    assert names.fnv1a64(data) == expected


def test_a_hashed_name_is_always_31_characters_whatever_it_names() -> None:
    assert {len(names.group_name("n" * 63, "d" * 253, "r", ordinal)) for ordinal in range(1024)} == {31}
    assert len(names.entrance("gpustack-nvidia-a10g-linux-amd64")) == 31


def test_the_role_key_is_no_group_of_that_role() -> None:
    assert names.role_key("team-a", "qwen", "server") == "gpustack-fnv64-25c39dbb907c785e"
    assert names.role_key("team-a", "qwen", "server") != names.group_name("team-a", "qwen", "server", 0)


def test_every_object_has_a_name_that_can_be_told_before_it_exists() -> None:
    assert names.deployment_service("qwen") == "qwen"
    assert names.role_service("qwen", "server") == "qwen-server"
    assert names.replica_service("qwen", "server", 2) == "qwen-server-r2"
    assert names.member_pod("qwen", "server", 2, 1) == "qwen-server-r2-m1"
    assert names.leader_address("qwen", "server", 2) == "qwen-server-r2-m0.qwen-server-r2"
    assert names.generate_name("qwen", "server") == "qwen-server-"
    assert names.router("qwen") == "qwen-router"
