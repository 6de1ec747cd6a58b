"""Document 3's objects and fragments, accepted by a real API server."""

from typing import Any

import pytest
from lab_kinds import create, placed
from modeldeployment.kube import Client
from modeldeployment.lab.flavors.installing import install_kinds
from spec3_examples import FRAGMENTS, OBJECTS, whole


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
