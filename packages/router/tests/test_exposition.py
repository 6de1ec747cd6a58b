"""Numbers are read strictly: what cannot be read is never taken for something."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.router.exposition import Sample, Series, Unreadable, samples, series

NAMES = ("up", "vllm:waiting")


def test_only_the_names_asked_for_are_read() -> None:
    body = (
        b'# HELP up x\n# TYPE up gauge\n up 1\nup_total 2\nxup 3\n# up 4\nvllm:waiting{engine="0"} 5.5 1712\nother{ 6\n'
    )
    assert samples(body, NAMES) == (Sample("up", {}, 1.0), Sample("vllm:waiting", {"engine": "0"}, 5.5))


@pytest.mark.parametrize(
    ("text", "value"), [("0", 0), ("-0.0", 0), ("1e3", 1000), ("+2.", 2), (".5", 0.5), ("+Inf", math.inf)]
)
def test_a_number_is_read_as_programs_write_it(text: str, value: float) -> None:
    assert samples(f"up {text}\r\n".encode(), NAMES)[0].value == value
    assert math.isnan(samples(b"up NaN\n", NAMES)[0].value)


def test_a_label_is_read_with_what_is_escaped_in_it() -> None:
    body = rb'up{a="}, b=\"x\"", c="\\\n",} 1' + b"\n"
    assert samples(body, NAMES) == (Sample("up", {"a": '}, b="x"', "c": "\\\n"}, 1.0),)


def test_a_name_may_stand_in_quotes_among_its_labels() -> None:
    assert samples(b'{"up",a="1"} 1\n{a="2", "up"} 2\n{"other"} 3\n', NAMES) == (
        Sample("up", {"a": "1"}, 1.0),
        Sample("up", {"a": "2"}, 2.0),
    )


@pytest.mark.parametrize(
    "line",
    [
        "up",
        "up ",
        "up x",
        "up 1_0",
        "up 0x1",
        "up ١",
        "up 1 2 3",
        "up 1 now",
        "up{ 1",
        'up{a="1} 1',
        "up{a=1} 1",
        'up{a="1" b="2"} 1',
        'up{a="1",a="2"} 1',
        'up{"up"} 1',
        '{"up","up"} 1',
        '{a="1"',
        "up}1",
        "up{}",
        'up{a="' + "x" * 5000 + '"} 1',
    ],
)
def test_a_line_that_cannot_be_read_spoils_the_body(line: str) -> None:
    with pytest.raises(Unreadable):
        samples(f"vllm:waiting 0\n{line}\n".encode(), NAMES)


def test_a_line_that_is_all_digits_costs_no_more_than_any_other() -> None:
    with pytest.raises(Unreadable):
        samples(b"up " + b"1" * 4000 + b"x\n", NAMES)


def test_more_lines_than_any_program_has_are_not_read() -> None:
    with pytest.raises(Unreadable, match="more than 20000 numbers"):
        samples("".join(f'up{{a="{number}"}} 0\n' for number in range(20_001)).encode(), NAMES)


def test_a_line_that_is_no_text_spoils_the_body() -> None:
    with pytest.raises(Unreadable):
        samples(b'up{a="\xff"} 1\n', NAMES)


def test_one_series_given_twice_says_nothing_certain() -> None:
    with pytest.raises(Unreadable, match="twice"):
        samples(b'up{a="1",b="2"} 0\nup{b="2",a="1"} 0\n', NAMES)
    assert len(samples(b'up{a="1"} 0\nup{a="2"} 0\n', NAMES)) == 2


def test_a_series_is_known_again_however_its_labels_are_ordered() -> None:
    assert series(b'up{b="2",a="1"} 3\n', NAMES) == series(b'up{a="1",b="2",} 3\n', NAMES)
    assert series(b'up{b="2",a="1"} 3\n', NAMES) == {Series("up", (("a", "1"), ("b", "2"))): 3.0}


def test_no_more_lines_are_read_than_whoever_reads_wants() -> None:
    with pytest.raises(Unreadable, match="more than 2 numbers"):
        series(b'up{a="1"} 0\nup{a="2"} 0\nup{a="3"} 0\n', NAMES, most=2)


@given(st.binary(max_size=300))
def test_any_body_is_read_or_unreadable(body: bytes) -> None:
    try:
        found = samples(body, NAMES)
    except Unreadable:
        return
    assert {each.name for each in found} <= set(NAMES)
