"""What every Kubernetes object carries, and references to objects beside it."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from modeldeployment.api.document import Document, Timestamp, absent, marked


def _said(texts: Any) -> Any:
    # What the API server makes of a null entry, which it does not take for one that is left out.
    if isinstance(texts, dict) and None in texts.values():
        return {name: "" if text is None else text for name, text in texts.items()}
    return texts


_Texts = Annotated[dict[str, str], BeforeValidator(_said)]


class ObjectMeta(Document):
    """The fields of `metadata` that some decision reads."""

    name: str = ""
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    generation: int | None = None
    creation_timestamp: Timestamp | None = None
    deletion_timestamp: Timestamp | None = None
    labels: _Texts = Field(default_factory=dict, exclude_if=absent)
    annotations: _Texts = Field(default_factory=dict, exclude_if=absent)
    finalizers: Annotated[tuple[str, ...], Field(exclude_if=absent)] = ()


class LocalObjectReference(Document):
    """An object of a known kind in the same namespace, by name."""

    model_config = marked(x_kubernetes_map_type="atomic")

    name: Annotated[str, Field(max_length=253)] = ""
    """Name of the object."""


class NamedReference(Document):
    """An object of a known kind and place, by a name that must be given."""

    name: Annotated[str, Field(min_length=1, max_length=253)]
    """Name of the object."""
