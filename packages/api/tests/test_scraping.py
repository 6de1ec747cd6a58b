"""A Pod is read where its annotations say, at its own address, and nowhere else (facts metrics §1, decisions D23)."""

import pytest
from modeldeployment.api import keys, scraping

SAID = {
    keys.SCRAPE: "true",
    keys.SCRAPE_PATH: "/metrics",
    keys.SCRAPE_PORT: "8000",
    keys.SCRAPE_SCHEME: "http",
}


def test_a_pod_is_read_where_its_annotations_say() -> None:
    assert scraping.url(SAID, "10.0.0.7") == "http://10.0.0.7:8000/metrics"
    assert scraping.url(SAID | {keys.SCRAPE_SCHEME: "https"}, "fd00::7") == "https://[fd00::7]:8000/metrics"


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (keys.SCRAPE, "yes"),
        (keys.SCRAPE_SCHEME, "file"),
        (keys.SCRAPE_PATH, "metrics"),
        (keys.SCRAPE_PORT, ""),
        (keys.SCRAPE_PORT, "0"),
        (keys.SCRAPE_PORT, "65536"),
        (keys.SCRAPE_PORT, "8000@elsewhere"),
        (keys.SCRAPE_PORT, "٨٠"),
        (keys.SCRAPE_PORT, "9" * 5000),
    ],
)
def test_a_pod_that_does_not_say_it_plainly_is_not_read(key: str, said: str) -> None:
    assert scraping.url(SAID | {key: said}, "10.0.0.7") is None


@pytest.mark.parametrize("key", list(SAID))
def test_a_pod_that_leaves_a_part_out_is_not_read(key: str) -> None:
    assert scraping.url({name: said for name, said in SAID.items() if name != key}, "10.0.0.7") is None


@pytest.mark.parametrize("address", [None, ""])
def test_a_pod_without_an_address_is_not_read(address: str | None) -> None:
    assert scraping.url(SAID, address) is None
