from collections.abc import Mapping
from typing import Annotated

import pytest
from modeldeployment.api.document import DEFAULTED, Document, Int32, Mark, list_map
from modeldeployment.api.quantity import Quantity
from modeldeployment.api.schema import Schema, SchemaError, structural
from pydantic import Field

NOTHING: Mapping[str, Schema] = {}


class Leaf(Document):
    """A leaf."""

    name: str
    """Name of the leaf."""
    weight: Annotated[Int32, Field(ge=1, le=9)] = 3
    shade: bool = False


class Tree(Document):
    """A tree."""

    leaves: Annotated[tuple[Leaf, ...], list_map("name")] = ()
    tallest: Leaf | None = None
    """The tallest leaf."""
    height: Quantity | None = None
    kind: Annotated[str, Mark(enum=["Oak"])] = "Oak"


class Forest(Document):
    trees: dict[str, Leaf] = Field(default_factory=dict)


class Sky(Document):
    height: Annotated[int, Field(multiple_of=2)] = 0


class Shelf(Document):
    weight: Annotated[Quantity, Mark(default="0.5")] = Quantity.parse("0.5")
    leaf: Annotated[Leaf, DEFAULTED] = Field(default_factory=lambda: Leaf(name="oak"))
    trees: Tree = Field(default_factory=Tree)


class Chimera(Document):
    head: Leaf | int


def test_a_model_becomes_a_schema_that_refers_to_nothing_else() -> None:
    leaf = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"description": "Name of the leaf.", "type": "string"},
            "weight": {"type": "integer", "format": "int32", "default": 3, "minimum": 1, "maximum": 9},
            "shade": {"type": "boolean"},
        },
    }
    schema = structural(Tree, NOTHING)
    height = schema["properties"].pop("height")
    assert schema == {
        "description": "A tree.",
        "type": "object",
        "properties": {
            "leaves": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"description": "A leaf.", **leaf},
            },
            "tallest": {"description": "The tallest leaf.", **leaf},
            "kind": {"type": "string", "enum": ["Oak"], "default": "Oak"},
        },
    }
    assert height["x-kubernetes-int-or-string"] is True
    assert height["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    assert "type" not in height


def test_a_given_property_is_taken_as_it_is() -> None:
    assert structural(Forest, {"trees": {"type": "object"}})["properties"] == {"trees": {"type": "object"}}


def test_a_keyword_without_a_place_is_refused_with_its_path() -> None:
    with pytest.raises(SchemaError, match=r"^Sky\.height: multipleOf has no place"):
        structural(Sky, NOTHING)


def test_a_map_says_what_its_values_are() -> None:
    trees = structural(Forest, NOTHING)["properties"]["trees"]
    assert trees["type"] == "object"
    assert trees["additionalProperties"] == structural(Leaf, NOTHING)


def test_a_default_is_spelled_as_its_mark_spells_it() -> None:
    fields = structural(Shelf, NOTHING)["properties"]
    assert fields["weight"]["default"] == "0.5"
    assert fields["leaf"]["default"] == {}
    assert "default" not in fields["trees"]


def test_a_union_is_refused_with_its_path() -> None:
    with pytest.raises(SchemaError, match=r"^Chimera\.head: a union of 2 types has no place"):
        structural(Chimera, NOTHING)
