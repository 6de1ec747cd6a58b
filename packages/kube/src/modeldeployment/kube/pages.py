"""The pages of a list: where the next one is, and what is in this one."""

from collections.abc import Iterator
from typing import Any, Final, Generic, TypeVar

import msgspec

from modeldeployment.kube import errors, requests
from modeldeployment.kube.sharing import sharer

S = TypeVar("S", bound=msgspec.Struct)


class _ListMeta(msgspec.Struct, frozen=True, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct, Generic[S], frozen=True):
    metadata: _ListMeta
    items: list[S] = []


class _Head(msgspec.Struct, frozen=True):
    """A page without its objects."""

    metadata: _ListMeta


_HEAD: Final = msgspec.json.Decoder(_Head)
_ITEMS: Final = b',"items":['


class Pages(Generic[S]):
    """Reads pages of objects of one shape."""

    def __init__(self, shape: type[S]) -> None:
        # Parts that stay bytes would keep a whole page for as long as one of its objects is left: read one by one.
        raw = any(field.type is msgspec.Raw for field in msgspec.structs.fields(shape))
        self._one: Final = msgspec.json.Decoder(shape)
        self._page: Final[msgspec.json.Decoder[_Page[Any]]] = msgspec.json.Decoder(
            _Page[msgspec.Raw if raw else shape]  # type: ignore[misc]
        )
        self._share: Final = sharer(shape)

    def read(self, page: bytes) -> Iterator[S]:
        """The objects of a page; each shares its words with those read before it. Raises Malformed."""
        for each in requests.decode(self._page, page).items:
            item = requests.decode(self._one, bytes(each)) if isinstance(each, msgspec.Raw) else each
            self._share(item)
            yield item


def following(page: bytes) -> tuple[str, str]:
    """What to ask for the next page with, empty on the last one, and the version of the list. Raises Malformed.

    Where both stand before the objects, as in lists of built-in kinds, these are not looked at.
    """
    at = page.find(_ITEMS)
    try:
        metadata = requests.decode(_HEAD, page[:at] + b"}" if at > 0 else page).metadata
    except errors.Malformed:
        metadata = requests.decode(_HEAD, page).metadata
    return metadata.continue_, metadata.resource_version
