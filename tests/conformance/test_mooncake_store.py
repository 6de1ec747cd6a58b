"""A real Mooncake store, and clients that engines' own readers set up from what is rendered."""

from collections.abc import Iterator

import pytest
from conformance_store import MASTER, NOT_REGISTERED, TENANT, StoreWorld, running
from modeldeployment.lab.networks import lonely
from modeldeployment.lab.packaged import Program
from modeldeployment.lab.pytest_plugin import ObtainProgram

BLOCK = "block " * 1000


@pytest.fixture(scope="module")
def mooncake(program: ObtainProgram) -> Program:
    """The store's programs, where they can be given a network of their own."""
    if why := lonely():
        pytest.skip(why)
    return program("mooncake")


@pytest.fixture(scope="module")
def ledgered(mooncake: Program, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreWorld]:
    with running(mooncake, tmp_path_factory.mktemp("ledger"), ledger=True) as world:
        yield world


@pytest.fixture(scope="module")
def plain(mooncake: Program, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreWorld]:
    with running(mooncake, tmp_path_factory.mktemp("plain"), ledger=False) as world:
        yield world


def test_vllm_reads_every_key_of_the_rendered_document(ledgered: StoreWorld, program: ObtainProgram) -> None:
    client = ledgered.use(program("vllm"), ledgered.pod("vLLM"), [])
    assert client.read == {
        "metadata_server": "P2PHANDSHAKE",
        "master_server_address": ledgered.address,
        "protocol": "tcp",
        "device_name": "",
        "mode": "standalone-store",
        "global_segment_size": 0,
        "local_buffer_size": 128 * 2**20,
        "enable_offload": False,
        "tenant_id": TENANT,
    }
    assert ledgered.address.startswith(MASTER)


def test_sglang_reads_every_variable_of_the_rendered_environment(ledgered: StoreWorld, program: ObtainProgram) -> None:
    client = ledgered.use(program("sglang"), ledgered.pod("SGLang"), [])
    assert client.read["local_hostname"].startswith("127.0.1.")
    assert {**client.read, "local_hostname": "", "client_server_address": None, "ssd_offload_path": None} == {
        "local_hostname": "",
        "metadata_server": "P2PHANDSHAKE",
        "global_segment_size": 0,
        "protocol": "tcp",
        "device_name": "",
        "master_server_address": ledgered.address,
        "master_metrics_port": 9003,
        "check_server": False,
        "standalone_storage": False,
        "client_server_address": None,
        "enable_ssd_offload": False,
        "ssd_offload_path": None,
        "tenant_id": TENANT,
    }


@pytest.mark.parametrize(("engine", "program_name"), [("vLLM", "vllm"), ("SGLang", "sglang")])
def test_a_block_that_one_replica_puts_is_read_by_it_and_by_another(
    ledgered: StoreWorld, program: ObtainProgram, engine: str, program_name: str
) -> None:
    pod, key = ledgered.pod(engine), f"{program_name}-block"
    assert ledgered.use(program(program_name), pod, [(key, BLOCK), (key, None)]).results == [0, BLOCK]
    assert ledgered.use(program(program_name), pod, [(key, None)]).results == [BLOCK]


def test_a_tenant_the_master_does_not_know_is_refused(ledgered: StoreWorld, program: ObtainProgram) -> None:
    stranger = ledgered.pod("vLLM", tenant="team-b")
    assert ledgered.use(program("vllm"), stranger, [("strange", BLOCK)]).results == [NOT_REGISTERED]


def test_a_client_without_a_tenant_is_refused_by_a_master_that_keeps_a_ledger(
    ledgered: StoreWorld, program: ObtainProgram
) -> None:
    nobody = ledgered.pod("vLLM", tenant="")
    assert ledgered.use(program("vllm"), nobody, [("nobodys", BLOCK)]).results == [NOT_REGISTERED]


def test_a_master_that_keeps_no_ledger_takes_a_client_without_a_tenant(
    plain: StoreWorld, program: ObtainProgram
) -> None:
    pod = plain.pod("vLLM", tenant="")
    assert plain.use(program("vllm"), pod, [("plain", BLOCK), ("plain", None)]).results == [0, BLOCK]
    assert plain.use(program("vllm"), pod, [("plain", None)]).results == [BLOCK]
