"""The accelerator makers, one row each.

Sources: facts rendering §11 and §12, facts api-dependencies §3, spec 1 §Runner image formula.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Maker:
    """What one maker's cards are called, and how a Pod asks for them.

    `runner` is the backend half of a runner image tag, empty where none is published. `variants` maps a detected family
    to the tag's variant; None means the maker's images have no variants. `partition` is the word in a partition's
    resource key, empty where cards cannot be partitioned. `runtime_class` is empty where none is needed.
    """

    name: str
    resource: str
    runner: str
    partition: str = ""
    variants: Mapping[str, str] | None = field(default=None)
    runtime_class: str = ""


_ASCEND: Final = MappingProxyType({"310P": "310p", "910B": "910b", "910C": "a3", "950": "950"})

MAKERS: Final[Mapping[str, Maker]] = MappingProxyType(
    {
        maker.name: maker
        for maker in (
            Maker("amd", "amd.com/gpu", "rocm", runtime_class="amd"),
            Maker("ascend", "huawei.com/npu", "cann", variants=_ASCEND, runtime_class="ascend"),
            Maker("cambricon", "cambricon.com/mlu", "", runtime_class="cambricon"),
            Maker("hygon", "hygon.com/dcu", "dtk", partition="mig", runtime_class="hygon"),
            Maker("iluvatar", "iluvatar.com/gpu", "corex", runtime_class="iluvatar"),
            Maker("metax", "metax-tech.com/gpu", "maca", runtime_class="metax"),
            Maker("mthreads", "mthreads.com/gpu", "musa", runtime_class="mthreads"),
            Maker("nvidia", "nvidia.com/gpu", "cuda", partition="mig", runtime_class="nvidia"),
            Maker("thead", "alibabacloud.com/ppu", "hggc", partition="mig"),
        )
    }
)
