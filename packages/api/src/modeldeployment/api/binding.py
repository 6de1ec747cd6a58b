"""The two annotations by which a scaler owns a deployment's replica counts, as JSON documents.

Source: spec 3 §Binding fence, facts api-scaler §4, decisions D35.
"""

from typing import Annotated, Self

from pydantic import Field, ValidationError

from modeldeployment.api.document import Document

Term = Annotated[int, Field(ge=1, le=2**63 - 1, strict=True)]
"""Which binding this is, from 1; an integer as JSON writes one, and one that status can hold."""


class _Annotation(Document):
    """A JSON document that is the value of an annotation."""

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read the annotation; None when it is not such a document."""
        try:
            return cls.model_validate_json(text, by_alias=True, by_name=False)
        except ValidationError:
            return None

    def text(self) -> str:
        """The annotation's value; the same document is always the same text."""
        return self.model_dump_json(exclude_none=True)


class Binding(_Annotation):
    """Who owns the counts: the value of `keys.SCALER_BINDING`."""

    scaler_name: Annotated[str, Field(min_length=1)]
    """ModelDeploymentScaler in the deployment's namespace."""
    scaler_uid: Annotated[str, Field(min_length=1, alias="scalerUID")]
    """Its UID; another scaler of the same name is another owner."""
    term: Term
    """Which binding this is, from 1; it never goes back."""


class Decision(_Annotation):
    """What the owner last committed: the value of `keys.SCALER_DECISION`."""

    decision_id: Annotated[str, Field(min_length=1, alias="decisionID")]
    """Which decision."""
    term: Term
    """Term of the binding it was committed under."""
    vector: dict[str, Annotated[int, Field(ge=1, strict=True)]]
    """Replicas by role."""
