"""The manifests of the story: as objects that a cluster is told, and as files that kubectl reads."""

from importlib import resources
from pathlib import Path
from typing import Any, Final

import yaml

CHAT: Final = "qwen-chat.yaml"
WRONG: Final = "qwen-wrong.yaml"
PAIR: Final = "qwen-pd.yaml"
EDITED_PAIR: Final = "qwen-pd-edited.yaml"
"""The pair with one replica more to prefill, and another image to decode."""


def manifest(namespace: str, instance_type: str) -> dict[str, Any]:
    """Return the minimal deployment of spec 1, without the cache it marks as optional, in that namespace."""
    document = read(CHAT)
    document["metadata"]["namespace"] = namespace
    for role in document["spec"]["roles"]:
        role["instanceType"] = instance_type
    return document


def read(name: str) -> dict[str, Any]:
    """Return the object of a manifest as it is written."""
    document: dict[str, Any] = yaml.safe_load(resources.files(__package__).joinpath(name).read_text("utf-8"))
    return document


def file(name: str) -> Path:
    """Return the file of a manifest, relative to the working directory where it lies below."""
    path = Path(__file__).with_name(name)
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
