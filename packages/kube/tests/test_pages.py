"""Pages of lists, as API servers write them."""

import sys

import pytest
from modeldeployment.kube import errors, shapes
from modeldeployment.kube.pages import Pages, following

BUILT_IN = (
    b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"t1","remainingItemCount":3},'
    b'"items":[{"metadata":{"name":"a","annotations":null}},{"metadata":{"name":"b"},"status":{"phase":"Running"}}]}'
)
CUSTOM = (
    b'{"apiVersion":"example.org/v1","items":[{"metadata":{"name":"a","resourceVersion":"3"},"spec":{"items":[1]}}],'
    b'"kind":"ThingList","metadata":{"continue":"t2","resourceVersion":"8"}}'
)


@pytest.mark.parametrize(
    ("page", "token", "version"),
    [
        (BUILT_IN, "t1", "7"),
        (CUSTOM, "t2", "8"),
        (b'{"items":[{"metadata":{"name":"a"},"items":[]}],"metadata":{"resourceVersion":"9"}}', "", "9"),
        (b'{"metadata": {"resourceVersion": "5"}, "items": []}', "", "5"),
        (b'{"metadata":{"resourceVersion":"6"}}', "", "6"),
    ],
)
def test_the_next_page_is_found_wherever_it_is_told(page: bytes, token: str, version: str) -> None:
    assert following(page) == (token, version)


def test_the_next_page_of_a_built_in_kind_is_found_without_a_look_at_its_objects() -> None:
    assert following(BUILT_IN[: BUILT_IN.index(b'"annotations"')]) == ("t1", "7")


def test_what_is_no_page_is_malformed() -> None:
    with pytest.raises(errors.Malformed):
        following(b'{"kind":"PodList","items":[]}')
    with pytest.raises(errors.Malformed):
        list(Pages(shapes.Pod).read(b'{"metadata":{},"items":[{"metadata":{"name":1}}]}'))


def test_objects_are_read_with_what_is_null_left_out() -> None:
    first, second = Pages(shapes.Pod).read(BUILT_IN)
    assert (first.metadata.name, first.metadata.annotations) == ("a", {})
    assert (second.metadata.name, second.status.phase) == ("b", "Running")


def test_an_object_whose_parts_stay_bytes_does_not_keep_its_page() -> None:
    page = bytes(bytearray(CUSTOM))
    before = sys.getrefcount(page)
    (thing,) = Pages(shapes.Custom).read(page)
    assert bytes(thing.spec) == b'{"items":[1]}'
    assert sys.getrefcount(page) == before


def test_objects_share_their_words() -> None:
    page = b'{"metadata":{},"items":[{"metadata":{"name":"a"},"spec":{"nodeName":"node-of-many-pods"}}]}'
    pages = Pages(shapes.Pod)
    (first,), (second,) = pages.read(page), pages.read(page)
    assert first.spec.node_name is second.spec.node_name
