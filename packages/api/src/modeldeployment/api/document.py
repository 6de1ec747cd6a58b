"""The one base of everything users write and we decode from the API server, and the marks its CRD schema reads."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    PlainSerializer,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from modeldeployment.api import docstrings
from modeldeployment.api.cel import Rule

STATED: Final = "x-stated"
"""Keyword, for the schema's maker alone, of a default that a mark spells: it is stored even where it is a zero."""


class Document(BaseModel):
    """A frozen piece of a Kubernetes object: snake_case here, camelCase in JSON.

    Reading is lenient where a later release may have written more: unknown fields are ignored and an explicit
    null reads as unset (decisions D45). Values the schema would refuse raise pydantic's ValidationError.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        defer_build=True,  # a command that reads one kind does not pay for the others
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_unset(cls, data: Any) -> Any:
        if isinstance(data, dict) and None in data.values():
            return {key: value for key, value in data.items() if value is not None}
        return data

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        reference = handler(schema)
        properties = handler.resolve_ref_schema(reference).get("properties", {})
        for name, text in docstrings.of_fields(cls).items():
            properties[cls.model_fields[name].alias]["description"] = text
        # Pydantic lays the default it knows over the one a mark spells, and spells amounts in its own way.
        for field in cls.model_fields.values():
            for mark in field.metadata:
                if isinstance(mark, Mark) and "default" in mark.keywords:
                    properties[field.alias]["default"] = mark.keywords["default"]
                    properties[field.alias][STATED] = True
        return reference

    def body(self) -> dict[str, Any]:
        """Return this as the dict Kubernetes reads, with what is unset left out and every default written out."""
        return self.model_dump(mode="json", exclude_none=True)


def _spelled(keywords: dict[str, Any]) -> dict[str, Any]:
    return {key.replace("_", "-"): value for key, value in keywords.items()}


class Mark:
    """Schema keywords of one annotated type, laid over what pydantic derives from it."""

    def __init__(self, **keywords: Any) -> None:
        self.keywords = _spelled(keywords)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), **self.keywords}


def marked(**keywords: Any) -> ConfigDict:
    """Return the `model_config` that gives a whole model schema keywords."""
    return ConfigDict(json_schema_extra=_spelled(keywords))


def guarded(*rules: Rule) -> Mark:
    """Mark a field whose values these CEL rules judge."""
    return Mark(x_kubernetes_validations=[rule.keywords() for rule in rules])


def guarding(*rules: Rule) -> ConfigDict:
    """Return the `model_config` of a model whose every object these CEL rules judge."""
    return marked(x_kubernetes_validations=[rule.keywords() for rule in rules])


def words(choices: type[StrEnum]) -> Mark:
    """Mark a plain string that the schema holds to `choices`, while an older reader still takes a newer word."""
    return Mark(enum=[choice.value for choice in choices])


def list_map(*keys: str) -> Mark:
    """Mark a list whose entries are told apart by `keys`, so that appliers merge it entry by entry."""
    return Mark(x_kubernetes_list_type="map", x_kubernetes_list_map_keys=list(keys))


ATOMIC = Mark(x_kubernetes_list_type="atomic")
"""Mark of a list that is always replaced whole."""


def absent(value: object) -> bool:
    """Whether an optional list or map says nothing, so that it is left out of what is written."""
    return not value


Int32 = Annotated[int, Mark(format="int32")]
Int64 = Annotated[int, Mark(format="int64")]


DEFAULTED: Final = Mark(default={})
"""Mark of an object that is stored even when left out, so that the defaults inside it are."""

OPEN: Final = marked(x_kubernetes_preserve_unknown_fields=True)
"""`model_config` of what others write more into than is read here; it is kept, not pruned (decisions D21)."""


def _second(moment: datetime) -> str:
    return f"{moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat()}Z"


Timestamp = Annotated[AwareDatetime, PlainSerializer(_second, when_used="json")]
"""An instant with a time zone; written in UTC to the second, as Kubernetes writes times."""
