from typing import Any

import pytest
from modeldeployment.api import KVCacheBackend, KVCachePool, KVCachePoolBinding, Quantity
from modeldeployment.api.choices import StoreProtocol
from modeldeployment.api.kvcache import CacheUser
from pydantic import ValidationError


def backend(**spec: Any) -> KVCacheBackend:
    return KVCacheBackend.model_validate({"metadata": {"name": "mooncake"}, "spec": spec})


def managed(*members: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"managed": {"members": list(members), **more}}


def binding(**domain: Any) -> KVCachePoolBinding:
    spec = {
        "poolRef": {"name": "dram"},
        "quota": {"ceiling": "100Gi"},
        "domain": {"blockSize": 128, "dtype": "bfloat16", **domain},
    }
    return KVCachePoolBinding.model_validate({"metadata": {"name": "shared-kv", "namespace": "team-a"}, "spec": spec})


def test_what_a_backend_leaves_out_reads_as_its_default() -> None:
    spec = backend(connection=managed({})).spec
    assert (spec.type, spec.transport.protocol) == ("Mooncake", StoreProtocol.AUTO)
    run = spec.connection.managed
    assert run is not None
    assert (run.leader.replicas, run.leader.election_backend, run.leader.multi_tenancy) == (1, "Kubernetes", True)
    assert (run.leader.member_addressing, run.members[0].medium) == ("Service", "DRAM")


def test_a_group_of_members_takes_the_transport_of_the_backend_unless_it_names_its_own() -> None:
    spec = backend(
        connection=managed({}, {"transport": {"protocol": "RDMA"}}, {"transport": {}}), transport={"protocol": "TCP"}
    ).spec
    assert spec.protocols == (StoreProtocol.TCP, StoreProtocol.RDMA, StoreProtocol.TCP)


def test_a_store_that_runs_elsewhere_has_the_transport_of_the_backend() -> None:
    endpoints = [{"name": "Client", "address": "store.example:50051"}]
    spec = backend(connection={"external": {"endpoints": endpoints}}, transport={"protocol": "EFA"}).spec
    assert spec.protocols == (StoreProtocol.EFA,)
    assert spec.connection.external is not None
    assert spec.connection.external.endpoints[0].address == "store.example:50051"


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"connection": managed()},
        {"connection": managed(*[{}] * 33)},
        {"connection": managed({"medium": "DISK"})},
        {"connection": managed({"fabricInterfaceCount": 0})},
        {"connection": managed({}, leader={"replicas": 6})},
        {"connection": managed({}, scaleIn={"gracePeriodSeconds": 3601})},
        {"connection": managed({}), "transport": {"protocol": "NVLINK"}},
        {"connection": {"external": {"endpoints": [{"name": "Client", "address": "no-port"}]}}},
    ],
)
def test_a_backend_outside_the_schema_is_refused(spec: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        backend(**spec)


def test_a_pool_names_its_backend_and_its_quota() -> None:
    pool = KVCachePool.model_validate({"spec": {"backends": [{"name": "mooncake"}], "quota": {"total": "1Ti"}}})
    assert [each.name for each in pool.spec.backends] == ["mooncake"]
    assert pool.spec.quota.total == Quantity.parse("1024Gi")
    assert pool.status.client_endpoint is None


def test_a_pool_tells_where_its_store_answers_and_what_is_in_it() -> None:
    domain = {
        "name": "team-a",
        "binding": {"namespace": "team-a", "name": "shared-kv"},
        "blockSize": 128,
        "dtype": "bfloat16",
        "blocks": 12,
        "hitRate": "0.5125",
    }
    status = {"phase": "Ready", "clientEndpoint": "mooncake-leader.kv.svc:50051", "domains": [domain]}
    pool = KVCachePool.model_validate(
        {"spec": {"backends": [{"name": "mooncake"}], "quota": {"total": "1Ti"}}, "status": status}
    )
    assert pool.status.body() == status


@pytest.mark.parametrize("rate", ["1.5", "0.12345", ".5", "50%"])
def test_a_hit_rate_is_a_fraction_with_four_digits_at_most(rate: str) -> None:
    with pytest.raises(ValidationError):
        KVCachePool.model_validate(
            {
                "spec": {"backends": [{"name": "mooncake"}], "quota": {"total": "1Ti"}},
                "status": {"domains": [{"name": "a", "hitRate": rate}]},
            }
        )


def test_a_domain_that_is_given_no_name_is_called_default() -> None:
    assert binding().spec.domain.name == "default"
    assert binding(name="team-a").spec.domain.name == "team-a"


@pytest.mark.parametrize(
    "domain",
    [{"name": "Team"}, {"name": "a" * 64}, {"blockSize": 0}, {"dtype": ""}, {"dtype": "BF16"}, {"dtype": "f" * 33}],
)
def test_a_domain_outside_the_schema_is_refused(domain: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        binding(**domain)


def test_a_user_of_a_binding_is_written_with_its_empty_namespace() -> None:
    user = CacheUser(kind="ModelDeployment", namespace="", name="qwen-72b")
    assert user.body() == {"kind": "ModelDeployment", "namespace": "", "name": "qwen-72b"}
