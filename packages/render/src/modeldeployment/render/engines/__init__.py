"""The closed catalogue of engines: adding one is a module and its row here."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from modeldeployment.api.choices import EngineName
from modeldeployment.render.engine import Engine
from modeldeployment.render.engines.sglang import SGLANG
from modeldeployment.render.engines.vllm import VLLM

ENGINES: Final[Mapping[EngineName, Engine]] = MappingProxyType({engine.name: engine for engine in (VLLM, SGLANG)})
"""Every engine by the name a deployment gives it."""

__all__ = ["ENGINES", "SGLANG", "VLLM", "Engine"]
