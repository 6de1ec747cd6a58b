"""What a card of a model is: the observed hardware an InstanceType reports.

Lab data: plausible figures for fake nodes, to be relied on for nothing else. A model that is not listed gets its
maker's defaults, so any name works.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

GENERIC: Final = "generic"
"""Stands in place of a maker for nodes without accelerators (facts api-dependencies §1, naming of CPU pools)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One accelerator as its maker's tools report it.

    `memory_mib` is per card; `family` is the detector's spelling that the runner image formula reads
    (spec 1 §Runner image formula).
    """

    product: str
    family: str
    memory_mib: int
    compute_capability: str = ""


_RUNTIME_VERSIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "amd": "6.4",
        "ascend": "9.0",
        "cambricon": "",
        "hygon": "25.04",
        "iluvatar": "4.3",
        "metax": "3.0",
        "mthreads": "4.2",
        "nvidia": "12.9",
        "thead": "1.5",
    }
)

_DEFAULT_MODELS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "amd": "mi300x",
        "ascend": "910b",
        "cambricon": "mlu590",
        "hygon": "k100ai",
        "iluvatar": "bi150",
        "metax": "c500",
        "mthreads": "s5000",
        "nvidia": "a10g",
        "thead": "ppu810e",
    }
)

_CARDS: Final[Mapping[tuple[str, str], Card]] = MappingProxyType(
    {
        ("amd", "mi300x"): Card(product="AMD Instinct MI300X", family="CDNA3", memory_mib=196608),
        ("ascend", "310p"): Card(product="Ascend 310P3", family="310P", memory_mib=44280),
        ("ascend", "910"): Card(product="Ascend 910", family="910", memory_mib=32768),
        ("ascend", "910b"): Card(product="Ascend 910B3", family="910B", memory_mib=65535),
        ("ascend", "910c"): Card(product="Ascend 910C", family="910C", memory_mib=65535),
        ("nvidia", "a10g"): Card(product="NVIDIA A10G", family="Ampere", memory_mib=23028, compute_capability="8.6"),
        ("nvidia", "a100"): Card(
            product="NVIDIA A100-SXM4-80GB", family="Ampere", memory_mib=81920, compute_capability="8.0"
        ),
        ("nvidia", "h20"): Card(product="NVIDIA H20", family="Hopper", memory_mib=97871, compute_capability="9.0"),
        ("nvidia", "h200"): Card(product="NVIDIA H200", family="Hopper", memory_mib=143771, compute_capability="9.0"),
    }
)

_UNLISTED_MEMORY_MIB: Final = 65536


def default_model(maker: str) -> str:
    """Return the model a fleet of `maker` gets when none is named; empty for nodes without accelerators."""
    return _DEFAULT_MODELS.get(maker, "")


def default_runtime_versions(maker: str) -> tuple[str, ...]:
    """Return the runtime versions nodes of `maker` report, empty where the maker has no runner (spec 1)."""
    version = _RUNTIME_VERSIONS.get(maker, "")
    return (version,) if version else ()


def card(maker: str, model: str) -> Card:
    """Return what a card of `model` is; an unlisted one has 64 GiB and its own name as product and family."""
    listed = _CARDS.get((maker, model))
    return listed or Card(product=f"{maker} {model}", family=model.upper(), memory_mib=_UNLISTED_MEMORY_MIB)
