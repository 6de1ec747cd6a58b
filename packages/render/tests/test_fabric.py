"""Fabric interfaces; vectors H15 to H17 of facts rendering §14."""

from typing import Any

import pytest
from modeldeployment.api.choices import EngineName
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.api.instancetype import InstanceType
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render import ENGINES, RenderRefusal, Seat, fabric, joins, render
from modeldeployment.render.fabric import Mixed, Rival, Unused
from render_worlds import ASCEND, deployment, facts, instance_type, joined, pair, role, store

VLLM = ENGINES[EngineName.VLLM]
UNUSED = "no effective RDMA or EFA transfer leg uses the requested interfaces; "


def wanting(count: object) -> dict[str, Any]:
    return {"resources": {"interface": count}}


def requested(given: ModelDeployment, known: InstanceType | None = None, **world: Any) -> dict[str, str]:
    """The resource entries of the first role that are about a fabric."""
    pod = render(given, facts(known or instance_type(), **world)).roles[0].template.pod(Seat(0, 0))
    (main,) = (each for each in pod["spec"]["containers"] if each["name"] == "main")
    found = {key: value for key, value in main["resources"]["limits"].items() if "rdma" in key or "efa" in key}
    assert not found.keys() & main["resources"]["requests"].keys()
    return found


def refused(given: ModelDeployment, known: InstanceType | None = None, **world: Any) -> RenderRefusal:
    with pytest.raises(RenderRefusal) as refusal:
        requested(given, known, **world)
    return refusal.value


@pytest.mark.parametrize(
    ("offers", "direct", "count", "expected"),
    [
        pytest.param(["rdma"], None, 1, {"device.gpustack.ai/rdma.shared": "1"}, id="H15-shared"),
        pytest.param(["rdma"], None, 2, {"device.gpustack.ai/rdma": "2"}, id="H15-exclusive"),
        pytest.param([], "EFA", 2, {"vpc.amazonaws.com/efa": "2"}, id="H15-direct"),
        pytest.param([], "EFA", 1, {"vpc.amazonaws.com/efa": "1"}, id="one-efa"),
        pytest.param(["tcp"], "RDMA", 1, {"device.gpustack.ai/rdma.shared": "1"}, id="H15-beside-tcp"),
        pytest.param(["rdma", "rdma"], "RDMA", 1, {"device.gpustack.ai/rdma.shared": "1"}, id="agreed"),
        pytest.param(["rdma"], "TCP", 3, {"device.gpustack.ai/rdma": "3"}, id="store-beside-direct-tcp"),
        pytest.param([], None, 0, {}, id="none-asked"),
    ],
)
def test_h15_the_device_follows_from_the_one_fabric_in_use(
    offers: list[str], direct: str | None, count: int, expected: dict[str, str]
) -> None:
    given = pair(router="llm-d-router", cache=bool(offers), protocol=direct, prefill=wanting(count))
    assert requested(given, store=store(*offers) if offers else None) == expected


@pytest.mark.parametrize(
    ("offers", "direct", "says"),
    [
        pytest.param(
            ["tcp", "rdma"], None, "cache member groups use conflicting protocols: tcp, rdma;", id="H16-groups"
        ),
        pytest.param(["rdma"], "EFA", "cache and direct-transfer legs use rdma and efa, ", id="H16-legs"),
        pytest.param(["tcp"], "TCP", UNUSED, id="H16-none"),
        pytest.param([], None, UNUSED, id="unset-is-tcp"),
        pytest.param(["rdma", "efa"], None, "conflicting protocols: rdma, efa; ", id="two-fabrics"),
    ],
)
def test_h16_interfaces_without_one_fabric_are_refused(offers: list[str], direct: str | None, says: str) -> None:
    given = pair(router="llm-d-router", cache=bool(offers), protocol=direct, prefill=wanting(1))
    refusal = refused(given, store=store(*offers) if offers else None)
    assert (refusal.reason, refusal.role) == (RefusalReason.RESOURCES_NOT_OFFERED, "prefill")
    # The groups are another object's; the rest takes an edit of this one, or another deployment.
    assert refusal.retryable == ("conflicting" in says)
    assert refusal.message.startswith("spec.roles[prefill].resources.interface is 1: ")
    assert says in refusal.message


@pytest.mark.parametrize(
    ("engine", "maker", "fields", "expected"),
    [
        pytest.param("vLLM", "nvidia", {}, "efa", id="H17-native"),
        pytest.param("vLLM", "amd", {}, "efa", id="H17-native-amd"),
        pytest.param("vLLM", "ascend", {}, "", id="H17-ascend"),
        pytest.param("SGLang", "nvidia", {}, "", id="H17-SGLang"),
        pytest.param("vLLM", "nvidia", {"command": ["x"]}, "", id="H17-take-over"),
    ],
)
def test_h17_the_direct_leg_counts_on_native_vllm_alone(
    engine: str, maker: str, fields: dict[str, Any], expected: str
) -> None:
    given = pair(router="llm-d-router", engine=engine, protocol="EFA", prefill=fields)
    backend = ENGINES[given.spec.engine.name].backend(maker)
    assert fabric.direct_leg(joins.of(given, given.spec.roles[0], backend, None), backend) == expected


@pytest.mark.parametrize(
    ("engine", "status", "fields"),
    [
        pytest.param("vLLM", ASCEND, {}, id="ascend"),
        pytest.param("SGLang", {}, {}, id="SGLang"),
        pytest.param("vLLM", {}, {"command": ["x"]}, id="take-over"),
    ],
)
def test_a_leg_that_does_not_count_justifies_no_interface(
    engine: str, status: dict[str, Any], fields: dict[str, Any]
) -> None:
    given = pair(router="llm-d-router", engine=engine, protocol="RDMA", prefill=wanting(1) | fields)
    assert "no effective RDMA or EFA" in refused(given, instance_type(status=status)).message


def test_h17_on_unobserved_hardware_the_direct_leg_is_waited_for() -> None:
    fields = {"resources": {"accelerator": 0, "interface": 1}}
    bare = instance_type(status={"manufacturer": ""})
    refusal = refused(pair(router="llm-d-router", protocol="RDMA", prefill=fields), bare)
    assert (refusal.reason, refusal.retryable) == (RefusalReason.RESOURCES_NOT_READY, True)
    assert "whether the direct transfer uses rdma is not known yet" in refusal.message
    plain = refused(pair(router="llm-d-router", prefill=fields), bare)
    assert (plain.reason, plain.retryable) == (RefusalReason.RESOURCES_NOT_OFFERED, False)


def test_a_store_that_cannot_be_used_now_takes_its_interfaces_along() -> None:
    cached = deployment(role(**wanting(1)), spec=joined(cache=True))
    assert requested(cached, store=store("rdma")) == {"device.gpustack.ai/rdma.shared": "1"}
    assert requested(cached, store=None) == {}


def test_a_direct_leg_keeps_its_interfaces_while_the_store_cannot_be_used() -> None:
    given = pair(router="llm-d-router", cache=True, protocol="RDMA", prefill=wanting(1))
    assert requested(given, store=None) == {"device.gpustack.ai/rdma.shared": "1"}


@pytest.mark.parametrize("fields", [{"command": ["x"]}, {"kind": "Encode"}], ids=["take-over", "encode"])
def test_roles_that_attach_to_no_store_justify_no_interface_with_it(fields: dict[str, Any]) -> None:
    roles = [role(**wanting(1), **fields)]
    if "kind" in fields:
        roles += [role("prefill", kind="Prefill"), role("decode", kind="Decode")]
    given = deployment(*roles, engine="SGLang", spec=joined(router="sglang-gateway", cache=True))
    for known in (store("rdma"), None):
        assert "no effective RDMA or EFA" in refused(given, store=known).message


def test_beside_an_encoder_behind_vllm_router_there_is_no_direct_leg() -> None:
    roles = [
        role("prefill", kind="Prefill", **wanting(1)),
        role("decode", kind="Decode"),
        role("encode", kind="Encode"),
    ]
    routed = deployment(*roles, spec=joined(router="vllm-router", protocol="RDMA"))
    assert "no effective RDMA or EFA" in refused(routed).message
    picked = deployment(*roles, spec=joined(router="llm-d-router", protocol="RDMA"))
    assert requested(picked) == {"device.gpustack.ai/rdma.shared": "1"}


@pytest.mark.parametrize("count", ["500m", -1])
def test_interfaces_are_whole_devices(count: object) -> None:
    refusal = refused(deployment(role(**wanting(count))))
    assert refusal.message == (
        f"spec.roles[server].resources.interface is {count}: interfaces are whole devices; write a whole number"
    )


@pytest.mark.parametrize(
    ("offers", "direct", "expected"),
    [
        (["tcp", "tcp"], "", Unused("tcp", "")),
        ([], "", Unused("", "")),
        (["rdma", "tcp", "rdma"], "rdma", Mixed(("rdma", "tcp"))),
        (["efa"], "rdma", Rival("efa", "rdma")),
        (["efa"], "tcp", "efa"),
    ],
)
def test_why_no_fabric_follows_is_told_apart(offers: list[str], direct: str, expected: object) -> None:
    assert fabric.used(offers, direct, VLLM.backend("nvidia")) == expected


def test_an_offer_the_engines_client_cannot_use_counts_for_nothing() -> None:
    assert fabric.used(["rdma"], "", VLLM.backend("ascend")) == Unused("", "")
