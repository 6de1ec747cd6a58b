import copy
from collections.abc import AsyncIterator
from typing import Any

import pytest
from e2e_board import watching
from e2e_operators import Operator
from e2e_worlds import World
from modeldeployment.kube import Client
from modeldeployment.lab.controlplane import ControlPlane
from modeldeployment.lab.flavors.providing import Provision
from modeldeployment.lab.fleets.fleet import Fleet

pytestmark = pytest.mark.lab

JSON = dict[str, Any]
DIFFERENT = "a different value describes a different deployment, which is created rather than edited"

SIZE = (
    "spec.roles[].size is fixed when the deployment is created: the Pods a running replica is made of are not the "
    "Pods another size asks for; change replicas to scale, or create another deployment with this size"
)


@pytest.fixture
async def world(
    control_plane: ControlPlane, operator: Operator, kube_client: Client, namespace: str
) -> AsyncIterator[World]:
    """A world without a fleet: nothing here gets beyond the API server."""
    assert operator.process.poll() is None
    fleet = Provision(Fleet(maker="nvidia", nodes=1), "none", "none", "none", (namespace,))
    async with watching(kube_client, namespace) as board:
        yield (made := World(control_plane, kube_client, namespace, fleet, board))
    await made.clear()


@pytest.fixture
async def stored(world: World) -> JSON:
    """A deployment of two roles, stored; its InstanceType does not exist, so nothing becomes of it."""
    roles: list[JSON] = [
        {"name": "server", "instanceType": "none", "replicas": 4, "resources": {"accelerator": 2}},
        {"name": "other", "instanceType": "none", "command": ["serve", "--all"]},
    ]
    manifest = world.manifest("chat", roles=roles)
    assert (await world.apply(manifest)).code == 0
    return manifest


async def refused(world: World, manifest: JSON) -> str:
    """What kubectl says to a manifest the API server must refuse; nothing is stored either way."""
    said = await world.apply(manifest, "--dry-run=server")
    assert said.code != 0, f"accepted: {said.out}"
    return said.err


async def accepted(world: World, manifest: JSON) -> None:
    said = await world.apply(manifest, "--dry-run=server")
    assert said.code == 0, said.err


async def test_defaults_are_written_by_the_schema(world: World, stored: JSON) -> None:
    assert stored["spec"]["roles"][0].get("size") is None
    await world.board.until(lambda: world.board.deployments.get(world.namespace, "chat"))
    roles = world.board.spec("chat")["roles"]
    assert [(role["kind"], role["replicas"], role["size"]) for role in roles] == [("Server", 4, 1), ("Server", 1, 1)]


@pytest.mark.parametrize(
    ("path", "field"),
    [
        (("spec",), "forecast"),
        (("spec", "roles", 0), "template"),
        (("spec", "roles", 0, "resources"), "cpu"),
        (("spec", "engine"), "flavour"),
    ],
)
async def test_an_unknown_field_is_refused(world: World, path: tuple[Any, ...], field: str) -> None:
    manifest = world.manifest("chat")
    _at(manifest, path)[field] = {}
    where = ".".join(str(part) for part in path).replace(".0", "[0]")
    assert f'unknown field "{where}.{field}"' in await refused(world, manifest)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("spec", "roles", 0, "replicas"), 0, "spec.roles[0].replicas: Invalid value: 0"),
        (("spec", "roles", 0, "replicas"), 1025, "spec.roles[0].replicas: Invalid value: 1025"),
        (("spec", "roles", 0, "size"), 65, "spec.roles[0].size: Invalid value: 65"),
        (("spec", "roles", 0, "kind"), "Router", 'spec.roles[0].kind: Unsupported value: "Router"'),
        (("spec", "roles", 0, "name"), "A b", "spec.roles[0].name: Invalid value"),
        (("spec", "engine", "name"), "TGI", 'spec.engine.name: Unsupported value: "TGI"'),
        (("spec", "model", "name"), "", "spec.model.name: Invalid value"),
        (("spec", "roles"), [], "spec.roles: Invalid value"),
        (("spec", "kvCache"), {"poolRef": {}}, "an empty reference names none"),
        (("spec", "roles", 0, "topology"), {"requiredLevel": "kubernetes.io/hostname"}, "never required by name"),
        (("spec", "roles", 0, "resources", "accelerator"), "1.5", "is a whole number and not negative"),
        (("spec", "roles", 0, "resources", "interface"), -1, "is a whole number and not negative"),
        (("spec", "roles", 0, "terminationGracePeriodSeconds"), 5, "Invalid value: 5"),
        (("spec", "roles", 0, "ports"), [{"port": 70000}], "spec.roles[0].ports[0].port: Invalid value: 70000"),
    ],
    ids=str,
)
async def test_an_invalid_value_is_refused_by_its_field(
    world: World, path: tuple[Any, ...], value: Any, says: str
) -> None:
    manifest = world.manifest("chat")
    _at(manifest, path[:-1])[path[-1]] = value
    assert says in await refused(world, manifest)


async def test_more_roles_than_any_rule_is_priced_for_and_roles_of_one_name_are_refused(world: World) -> None:
    many = world.manifest("chat", roles=[world.role(f"role-{number}") for number in range(17)])
    assert "spec.roles: Too many: 17: must have at most 16 items" in await refused(world, many)
    twins = world.manifest("chat", roles=[world.role("server"), world.role("server")])
    assert 'spec.roles[1]: Duplicate value: {"name":"server"}' in await refused(world, twins)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("spec", "model", "name"), "other", f"spec.model identifies the deployment, and {DIFFERENT}"),
        (("spec", "engine", "name"), "SGLang", f"spec.engine.name identifies the deployment, and {DIFFERENT}"),
        (("spec", "kvCache"), {"poolRef": {"name": "x"}}, f"spec.kvCache identifies the deployment, and {DIFFERENT}"),
        (
            ("spec", "roles", 0, "instanceType"),
            "b",
            f"spec.roles[].instanceType identifies the deployment, and {DIFFERENT}",
        ),
        (
            ("spec", "roles", 0, "size"),
            2,
            SIZE,
        ),
        (
            ("spec", "roles", 0, "resources", "accelerator"),
            3,
            f"spec.roles[].resources.accelerator identifies the deployment, and {DIFFERENT}",
        ),
        (
            ("spec", "roles", 0, "resources", "acceleratorSlicedMemoryPercentage"),
            50,
            f"spec.roles[].resources.acceleratorSlicedMemoryPercentage identifies the deployment, and {DIFFERENT}",
        ),
        (
            ("spec", "roles", 0, "resources", "interface"),
            1,
            f"spec.roles[].resources.interface identifies the deployment, and {DIFFERENT}",
        ),
        (
            ("spec", "roles", 1, "resources"),
            {"accelerator": 2},
            f"spec.roles[].resources identifies the deployment, and {DIFFERENT}",
        ),
        (("spec", "roles", 0, "command"), ["sh"], f"spec.roles[].command identifies the deployment, and {DIFFERENT}"),
        (
            ("spec", "roles", 0, "name"),
            "renamed",
            f"the set of roles in spec.roles identifies the deployment, and {DIFFERENT}",
        ),
    ],
    ids=str,
)
async def test_a_field_that_identifies_the_deployment_is_frozen(
    world: World, stored: JSON, path: tuple[Any, ...], value: Any, says: str
) -> None:
    edited = copy.deepcopy(stored)
    _at(edited, path[:-1])[path[-1]] = value
    assert says in await refused(world, edited)


@pytest.mark.usefixtures("stored")
async def test_a_merge_patch_that_leaves_out_a_frozen_field_is_refused_by_its_name(world: World) -> None:
    roles = '{"spec":{"roles":[%s,{"name":"other","instanceType":"none","replicas":2}]}}'
    first = '{"name":"server","instanceType":"none","resources":{"accelerator":2}}'
    said = await world.kubectl("patch", "md", "chat", "--type=merge", "-p", roles % first, "--dry-run=server")
    assert said.code != 0
    assert f"spec.roles[].command identifies the deployment, and {DIFFERENT}" in said.err
    path = '[{"op":"replace","path":"/spec/roles/1/replicas","value":2}]'
    said = await world.kubectl("patch", "md", "chat", "--type=json", "-p", path, "--dry-run=server")
    assert said.code == 0, said.err


async def test_what_says_the_same_and_what_controls_running_stays_editable(world: World, stored: JSON) -> None:
    edited = copy.deepcopy(stored)
    edited["spec"]["engine"] |= {"version": "0.30.0", "image": "lab/engine"}
    edited["spec"]["roles"].reverse()
    edited["spec"]["roles"][0]["resources"] = {"accelerator": "1"}
    edited["spec"]["roles"][1]["resources"] = {"accelerator": "2", "interface": 0}
    edited["spec"]["roles"][1] |= {
        "replicas": 5,
        "image": "lab/role",
        "imagePullPolicy": "Always",
        "imagePullSecrets": [{"name": "registry"}],
        "privileged": True,
        "ports": [{"port": 9000}],
        "extraArgs": ["--max-model-len=4096"],
        "env": [{"name": "A", "value": "b"}],
        "additionalVolumes": [{"mountPath": "/models", "hostPath": {"path": "/models"}}],
        "terminationGracePeriodSeconds": 60,
        "topology": {"requiredLevel": "topology.kubernetes.io/zone"},
        "command": [],
    }
    await accepted(world, edited)


async def test_a_replica_count_can_be_changed_with_the_json_patch_the_documents_name(
    world: World, stored: JSON
) -> None:
    path = '[{"op":"replace","path":"/spec/roles/0/replicas","value":6}]'
    said = await world.kubectl("patch", "md", "chat", "--type=json", "-p", path)
    assert said.code == 0, said.err
    await world.board.until(lambda: world.board.spec("chat")["roles"][0]["replicas"] == 6)
    assert stored["spec"]["roles"][0]["replicas"] == 4


def _at(document: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        document = document[part]
    return document
