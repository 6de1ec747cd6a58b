"""What image says of itself that it holds the router that really runs here.

An image's tag is how a deployment says which version of a router it has (decisions D8); the lab pulls none.
"""

from collections.abc import Mapping
from typing import Final

from modeldeployment.lab.packaged import PROGRAMS
from modeldeployment.lab.toolchain.picker import Picker

IMAGES: Final[Mapping[str, str]] = {
    "vllm-router": f"vllm/vllm-router:{PROGRAMS['vllm-router'].version}",
    "sglang-gateway": f"lmsysorg/sglang-router:{PROGRAMS['sglang-router'].version}",
}
"""For each router that is one program, by the name a deployment gives it."""


def picker_image(picker: Picker) -> str:
    """Answer the same for `llm-d-router`, whose picker is at hand in one version or another."""
    return f"llm-d/{'llm-d-inference-scheduler' if picker.pinned else 'llm-d-router'}:v{picker.version}"
