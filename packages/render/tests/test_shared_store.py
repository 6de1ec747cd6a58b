"""From a binding to the store it leads to. Source: facts kv-cache §1 and §3, decisions D30."""

from typing import Any

import pytest
from modeldeployment.api.choices import StoreProtocol
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.api.kvbackend import KVCacheBackend
from modeldeployment.api.kvpool import KVCachePool, KVCachePoolBinding
from modeldeployment.render import TRANSPORTS, Domain, RenderRefusal, Store, connection, domain
from modeldeployment.render.store import key_prefix

MASTER = "shared-kv-master.gpustack-system.svc:50051"
LEAVING = {"deletionTimestamp": "2026-01-02T03:04:05Z"}


def condition(kind: str, status: str, reason: str = "Said") -> dict[str, str]:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": "",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    }


def binding(*, phase: str | None = "Ready", granted: str | None = "True", **metadata: str) -> KVCachePoolBinding:
    conditions = [condition("QuotaGranted", granted)] if granted else []
    return KVCachePoolBinding.model_validate(
        {
            "metadata": {"name": "team-a-dram", "namespace": "team-a", **metadata},
            "spec": {
                "poolRef": {"name": "dram"},
                "quota": {"ceiling": "100Gi"},
                "domain": {"name": "team-a-shared", "blockSize": 16, "dtype": "bfloat16"},
            },
            "status": {"phase": phase, "conditions": conditions},
        }
    )


def pool(*conditions: dict[str, str], endpoint: str | None = MASTER) -> KVCachePool:
    return KVCachePool.model_validate(
        {
            "metadata": {"name": "dram"},
            "spec": {"backends": [{"name": "shared-kv"}], "quota": {"total": "1Ti"}},
            "status": {"clientEndpoint": endpoint, "conditions": list(conditions)},
        }
    )


def backend(*members: str | None, protocol: str = "Auto", external: bool = False) -> KVCacheBackend:
    groups = [{"transport": {"protocol": member}} if member else {} for member in members or (None,)]
    outside = {"external": {"endpoints": [{"name": "Client", "address": MASTER}]}}
    return KVCacheBackend.model_validate(
        {
            "metadata": {"name": "shared-kv"},
            "spec": {
                "connection": outside if external else {"managed": {"members": groups}},
                "transport": {"protocol": protocol},
            },
        }
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, Domain.NOT_FOUND),
        (binding(**LEAVING), Domain.DELETING),
        (binding(phase="Pending", **LEAVING), Domain.DELETING),
        (binding(phase="Error"), Domain.NOT_READY),
        (binding(phase=None), Domain.NOT_READY),
        (binding(granted="False"), Domain.NOT_READY),
        (binding(granted="Unknown"), Domain.NOT_READY),
        (binding(granted=None), Domain.NOT_READY),
        (binding(), Domain.REGISTERED),
    ],
)
def test_a_domain_is_registered_once_its_binding_is_ready_and_granted(given: Any, said: Domain) -> None:
    assert domain(given) is said


def test_a_whole_chain_leads_to_the_store() -> None:
    assert connection(binding(), pool(), backend()) == Store(MASTER, ("tcp",), "team-a-shared", "bfloat16", 16)


@pytest.mark.parametrize(
    "links",
    [
        pytest.param((None, pool(), backend()), id="no-binding"),
        pytest.param((binding(**LEAVING), pool(), backend()), id="binding-leaving"),
        pytest.param((binding(phase="Error"), pool(), backend()), id="binding-not-ready"),
        pytest.param((binding(granted="False"), pool(), backend()), id="binding-not-granted"),
        pytest.param((binding(), None, backend()), id="no-pool"),
        pytest.param((binding(), pool(endpoint=None), backend()), id="pool-without-endpoint"),
        pytest.param((binding(), pool(endpoint=""), backend()), id="pool-with-empty-endpoint"),
        pytest.param((binding(), pool(), None), id="no-backend"),
    ],
)
def test_any_missing_link_leads_nowhere(links: Any) -> None:
    assert connection(*links) is None


@pytest.mark.parametrize(
    ("conditions", "tenant"),
    [
        ((), "team-a-shared"),
        ((condition("QuotaLedgerAvailable", "True"),), "team-a-shared"),
        ((condition("QuotaLedgerAvailable", "False", "LedgerUnreachable"),), "team-a-shared"),
        ((condition("QuotaLedgerAvailable", "False", "MultiTenancyDisabled"),), ""),
        ((condition("QuotaPolicyWritable", "False", "MultiTenancyDisabled"),), "team-a-shared"),
    ],
)
def test_a_tenant_is_named_unless_the_master_says_it_keeps_no_ledger(conditions: Any, tenant: str) -> None:
    found = connection(binding(), pool(*conditions), backend())
    assert found is not None
    assert found.tenant == tenant


@pytest.mark.parametrize(
    ("of", "transports"),
    [
        (backend("RDMA", None, "TCP", protocol="EFA"), ("rdma", "efa", "tcp")),
        (backend(None, None), ("tcp", "tcp")),
        (backend(protocol="CANN", external=True), ("ascend",)),
    ],
)
def test_transports_are_those_of_the_groups_of_members_in_order(of: KVCacheBackend, transports: Any) -> None:
    found = connection(binding(), pool(), of)
    assert found is not None
    assert found.transports == transports


def test_every_word_of_the_api_has_mooncakes_spelling() -> None:
    assert {word.value: spelling for word, spelling in TRANSPORTS.items()} == {
        "Auto": "tcp",
        "TCP": "tcp",
        "RDMA": "rdma",
        "EFA": "efa",
        "CANN": "ascend",
        "ROCM": "hip",
        "MUSA": "musa",
        "MACA": "maca",
    }
    assert set(TRANSPORTS) == set(StoreProtocol)


def test_a_prefix_of_letters_digits_and_dashes_is_one_part_of_a_key() -> None:
    assert key_prefix("m-0123456789abcdef", "server") == "m-0123456789abcdef"


@pytest.mark.parametrize(("prefix", "character"), [("m-1@2", "@"), ("m_1", "_"), ("sha256:ab", ":")])
def test_a_prefix_that_would_be_several_parts_of_a_key_is_refused(prefix: str, character: str) -> None:
    with pytest.raises(RenderRefusal) as refusal:
        key_prefix(prefix, "prefill")
    assert (refusal.value.reason, refusal.value.role) == (RefusalReason.CACHE_PREFIX_INVALID, "prefill")
    assert refusal.value.message == (
        f"spec.model.artifactRef marks the blocks of spec.roles[prefill] with {prefix!r}: {character!r} separates the "
        "parts of a block's key in the store; name an artifact whose digest holds letters, digits and dashes only"
    )
