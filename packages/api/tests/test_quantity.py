import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from modeldeployment.api import Format, Quantity
from modeldeployment.api.quantity import PATTERN
from pydantic import TypeAdapter, ValidationError

CANONICAL = [
    ("0", "0"),
    ("2", "2"),
    ("32Gi", "32Gi"),
    ("1600m", "1600m"),
    ("1.6", "1600m"),
    ("0.5", "500m"),
    (".5", "500m"),
    ("5.", "5"),
    ("1000m", "1"),
    ("1024Mi", "1Gi"),
    ("1.5Gi", "1536Mi"),
    ("0.5Ki", "512"),
    ("1000", "1k"),
    ("1500", "1500"),
    ("1e3", "1e3"),
    ("15E2", "1500"),
    ("1E", "1E"),
    ("1Ei", "1Ei"),
    ("-1.5Gi", "-1536Mi"),
    ("+3", "3"),
    ("100n", "100n"),
    ("1500u", "1500u"),
    ("0.1n", "1n"),
    ("-0.1n", "-1n"),
    ("65535Mi", "65535Mi"),
    ("0Gi", "0"),
]


@pytest.mark.parametrize(("written", "canonical"), CANONICAL)
def test_a_quantity_is_written_as_kubernetes_writes_it(written: str, canonical: str) -> None:
    assert str(Quantity.parse(written)) == canonical


@pytest.mark.parametrize("written", ["", "Gi", ".", "1 Gi", "1gi", "1K", "one", "1e", "1e1.5", "1e999", "--1", "1Gi\n"])
def test_what_is_not_a_quantity_is_refused_with_what_was_written(written: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity") as refused:
        Quantity.parse(written)
    assert repr(written) in str(refused.value)


@pytest.mark.parametrize("written", [written for written, _ in CANONICAL] + ["1e99", "1E-99", "0e0", "1" * 64])
def test_what_the_schema_lets_in_is_read(written: str) -> None:
    assert re.search(PATTERN, written)
    Quantity.parse(written)


@pytest.mark.parametrize("written", ["0e100", "1e000", "1e1.5", "1e.5", "1e-1000000000000", "1e", "Gi", ".", ""])
def test_what_cannot_be_read_is_not_let_in_by_the_schema(written: str) -> None:
    assert not re.search(PATTERN, written)
    with pytest.raises(ValueError, match="is not a quantity"):
        Quantity.parse(written)


def test_one_amount_is_one_amount_however_it_is_spelled() -> None:
    assert Quantity.parse("1024Mi") == Quantity.parse("1Gi") == Quantity.parse("1073741824")
    assert hash(Quantity.parse("1024Mi")) == hash(Quantity.parse("1Gi"))
    assert Quantity.parse("999m") < Quantity.parse("1") < Quantity.parse("1Ki")


def test_shares_are_exact_and_keep_the_format() -> None:
    assert str(Quantity.parse("4").times(33, 100)) == "1320m"
    assert str(Quantity.parse("64Gi").times(2)) == "128Gi"
    assert str(Quantity.parse("16Gi").times(25, 100)) == "4Gi"
    assert str(Quantity.parse("1").times(1, 3)) == "333333334n"


def test_whole_and_thousandths_round_up() -> None:
    assert Quantity.parse("1500m").units == 2
    assert Quantity.parse("1500u").milli == 2
    assert Quantity.parse("-1500m").units == -1
    assert Quantity.whole(3) == Quantity.parse("3")
    assert Quantity.parse("2").is_whole
    assert not Quantity.parse("2500m").is_whole


def test_numbers_and_strings_are_read_alike() -> None:
    reader = TypeAdapter(Quantity)
    assert reader.validate_json("2") == reader.validate_json('"2"') == Quantity.parse("2")
    assert reader.validate_json("0.5") == Quantity.parse("500m")
    assert reader.dump_json(Quantity.parse("0.5Gi")) == b'"512Mi"'


@pytest.mark.parametrize("document", ["true", "[1]", '"many"', "{}"])
def test_anything_else_is_no_quantity(document: str) -> None:
    with pytest.raises(ValidationError, match="is not a quantity"):
        TypeAdapter(Quantity).validate_json(document)


@given(st.integers(min_value=-(2**63), max_value=2**63), st.sampled_from(Format))
def test_what_is_written_reads_back_as_the_same_amount(nanos: int, format_: Format) -> None:
    quantity = Quantity(nanos, format_)
    assert Quantity.parse(str(quantity)) == quantity


@given(st.integers(min_value=0, max_value=2**62), st.sampled_from(Format))
@example(units=25000, format_=Format.BINARY)
def test_a_spelling_is_canonical_in_the_format_it_reads_in(units: int, format_: Format) -> None:
    # A binary amount that no binary suffix divides is written as digits, and digits read as decimal, as in Kubernetes.
    read = Quantity.parse(str(Quantity.whole(units, format_)))
    assert str(Quantity.parse(str(read))) == str(read)
