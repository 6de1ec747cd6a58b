"""Document 3's objects and fragments are what they say: read by the models and accepted by a real API server."""

from typing import Any

import pytest
import yaml
from lab_kinds import create, placed
from modeldeployment.api import ModelDeploymentScaler
from modeldeployment.kube import Client
from modeldeployment.lab.flavors.installing import install_kinds
from spec3_examples import FRAGMENTS, OBJECTS, RESOURCE, TOKEN_THROUGHPUT

BASES = {"rebalance": TOKEN_THROUGHPUT}


def whole(name: str) -> dict[str, Any]:
    if name in OBJECTS:
        document: dict[str, Any] = yaml.safe_load(OBJECTS[name])
        return document
    document = yaml.safe_load(BASES.get(name, RESOURCE))
    spec = yaml.safe_load(FRAGMENTS[name])["spec"]
    return {**document, "spec": {**document["spec"], **spec}}


@pytest.mark.parametrize("name", [*OBJECTS, *FRAGMENTS])
def test_an_example_reads_as_it_is_written(name: str) -> None:
    document = whole(name)
    written = ModelDeploymentScaler.model_validate(document).spec.body()
    assert kept(document["spec"], written) == document["spec"]


def kept(asked: Any, written: Any) -> Any:
    if isinstance(asked, dict):
        return {name: kept(value, written[name]) for name, value in asked.items()}
    if isinstance(asked, list):
        return [kept(one, other) for one, other in zip(asked, written, strict=True)]
    # "0.5" is stored as it is written and read as the amount it is, whose own spelling is 500m.
    return {"500m": "0.5", "100m": "0.1", "2k": "2000"}.get(str(written), written)


def test_the_example_of_every_default_names_them_all() -> None:
    stated = ModelDeploymentScaler.model_validate(yaml.safe_load(RESOURCE)).spec
    document = yaml.safe_load(RESOURCE)
    for left_out in ("mode", "suspend", "sampling", "behavior", "rebalance"):
        del document["spec"][left_out]
    del document["spec"]["algorithm"]["proportional"]["tolerance"]
    assert ModelDeploymentScaler.model_validate(document).spec == stated


@pytest.mark.lab
@pytest.mark.parametrize("name", [*OBJECTS, *FRAGMENTS])
async def test_an_example_is_accepted_and_stored_as_it_is_written(
    kube_client: Client, namespace: str, name: str
) -> None:
    await install_kinds(kube_client)
    document = whole(name)
    stored = await create(kube_client, placed(document, "llm-serving", namespace), dry=True)
    assert found(document["spec"], stored["spec"]) == document["spec"]


def found(asked: Any, stored: Any) -> Any:
    if isinstance(asked, dict):
        return {name: found(value, stored[name]) for name, value in asked.items()}
    return stored
