"""Hypothesis strategies of whole objects, drawn from the schema of their kind."""

import re
from functools import cache
from typing import Any

from hypothesis import strategies as st
from modeldeployment.api.crds import crds
from modeldeployment.api.schema import Schema

QUANTITIES = ("0", "1", "500m", "0.1", "16Gi", "1e3", "2000")
TEXT_CHARACTERS = st.characters(codec="utf-8", exclude_characters="\x00")
TEXT = st.text(TEXT_CHARACTERS, max_size=12)
SPELLINGS = (
    "a",
    "a-1",
    "a" * 63,
    "0.5",
    "1",
    "/data/a",
    "a/b",
    "topology.kubernetes.io/zone",
    "store.example:50051",
    "[::1]:9003",
    "bfloat16",
    f"sha256:{'0a' * 32}",
    f"registry.example/qwen@sha256:{'0a' * 32}",
)
"""Texts of which some fit every pattern of our schemas."""
UNKNOWN = {"addedByALaterRelease": {"list": [1, None, "x"]}}

SCHEMAS = {
    crd["spec"]["names"]["kind"]: crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    for crd in crds()
}


@cache
def of_kind(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """Whole objects of a kind, with and without a status."""
    fields = SCHEMAS[kind]
    return st.fixed_dictionaries(
        {
            "apiVersion": st.just("worker.gpustack.ai/v1"),
            "kind": st.just(kind),
            "metadata": st.just({"name": "a", "generation": 1, "creationTimestamp": "2026-03-01T12:00:00Z"}),
            "spec": values(fields["spec"]),
        },
        optional={"status": values(fields["status"])},
    )


def values(schema: Schema) -> st.SearchStrategy[Any]:
    """Values the schema admits, bounds and patterns included; rules across fields are not looked at."""
    if "x-kubernetes-int-or-string" in schema:
        return st.sampled_from(QUANTITIES) | st.integers(0, 10**6)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "object":
            return _objects(schema)
        case "array":
            return st.lists(
                values(schema["items"]), min_size=schema.get("minItems", 0), max_size=min(schema.get("maxItems", 3), 3)
            )
        case "integer":
            return st.integers(schema.get("minimum", -(2**31)), schema.get("maximum", 2**31 - 1))
        case "boolean":
            return st.booleans()
        case _:
            return _strings(schema)


def _objects(schema: Schema) -> st.SearchStrategy[dict[str, Any]]:
    if "additionalProperties" in schema:
        return st.dictionaries(TEXT, values(schema["additionalProperties"]), max_size=3)
    fields = {name: values(child) for name, child in schema.get("properties", {}).items()}
    required = set(schema.get("required", ()))
    return st.fixed_dictionaries(
        {name: fields[name] for name in fields if name in required},
        optional={name: fields[name] for name in fields if name not in required},
    )


def _strings(schema: Schema) -> st.SearchStrategy[str]:
    if schema.get("format") == "date-time":
        return st.sampled_from(("0001-01-01T00:00:00Z", "2026-03-01T12:00:00Z", "9999-12-31T23:59:59Z"))
    least, most = schema.get("minLength", 0), schema.get("maxLength", 12)
    if pattern := schema.get("pattern"):
        written = re.compile(pattern, re.ASCII)
        fitting = [text for text in SPELLINGS if least <= len(text) <= most and written.search(text)]
        assert fitting, pattern
        return st.sampled_from(fitting)
    return st.text(TEXT_CHARACTERS, min_size=least, max_size=min(most, least + 12))
