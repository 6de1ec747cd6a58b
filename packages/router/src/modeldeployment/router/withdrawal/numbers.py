"""What a router's own numbers say of one worker. Source: facts routers-measured §3, routing §9."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modeldeployment.router import exposition
from modeldeployment.router.withdrawal.listing import Strange, address_of, host_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldeployment.router.exposition import Sample
    from modeldeployment.router.withdrawal.asking import Heard, Subject


@dataclass(frozen=True, slots=True)
class Said:
    """What the samples of one body say of one worker: the sum of each series, over whatever else labels it.

    `family` says whether the body has any of the series that were asked for, of any worker at all.
    """

    sums: Mapping[str, float]
    family: bool

    def of(self, *names: str) -> float:
        """Sum these series; one that is not there adds nothing."""
        return sum(self.sums.get(name, 0.0) for name in names)


def read(heard: Heard, names: Collection[str], subject: Subject, *, may_fall: Collection[str] = ()) -> Said:
    """Read the series of these names that are labelled with the member; raises Strange for a body that is not plain.

    A number below zero is strange but for the series that `may_fall`.
    """
    every = samples(heard, names)
    address = address_of(subject.address)
    sums: dict[str, float] = {}
    for each in every:
        if "worker" in each.labels and host_of(each.labels["worker"]) == address:
            plain(each, may_fall=may_fall)
            sums[each.name] = sums.get(each.name, 0.0) + each.value
    return Said(sums, family=bool(every))


def samples(heard: Heard, names: Collection[str]) -> tuple[Sample, ...]:
    """Read the samples of these names; raises Strange where there is no body or it cannot be read."""
    if not heard.answered:
        raise Strange(f"answers {heard}")
    try:
        return exposition.samples(heard.body, names)
    except exposition.Unreadable as error:
        raise Strange(f"publishes numbers that say nothing certain: {error}") from error


def plain(sample: Sample, *, may_fall: Collection[str] = ()) -> None:
    """Raise Strange for a number that counts nothing."""
    if not math.isfinite(sample.value) or (sample.value < 0 and sample.name not in may_fall):
        raise Strange(f"publishes {sample.name} as {sample.value}")
