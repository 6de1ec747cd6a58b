"""What prometheus-client's own parser makes of a body: the oracle of our reader."""

from collections.abc import Collection

from modeldeployment.router.exposition import Sample
from prometheus_client.parser import text_string_to_metric_families


def told(body: str, names: Collection[str] | None = None) -> list[Sample]:
    """The samples of these names, of every name where none are given, in the order of the body.

    A counter whose name does not end in `_total` is renamed by that parser; here it keeps the name it is written under.
    """
    found = []
    for family in text_string_to_metric_families(body):
        for sample in family.samples:
            renamed = family.type == "counter" and f"# TYPE {family.name} counter" in body
            name = sample.name.removesuffix("_total") if renamed else sample.name
            if names is None or name in names:
                found.append(Sample(name, dict(sample.labels), float(sample.value)))
    return found
