"""Document 3's objects and fragments are what they say: read by the models as they are written."""

from typing import Any

import pytest
import yaml
from modeldeployment.api import ModelDeploymentScaler
from spec3_examples import FRAGMENTS, OBJECTS, RESOURCE, whole


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
