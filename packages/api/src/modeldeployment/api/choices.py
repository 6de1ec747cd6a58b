"""What a user chooses from: the closed words of our kinds.

They need no model, so who only speaks of a kind, an engine or a router does not import the models.
Sources: spec 1, spec 2, decisions D1.
"""

from enum import StrEnum


class RoleKind(StrEnum):
    """What a role does with a request (decisions D1)."""

    SERVER = "Server"
    PREFILL = "Prefill"
    DECODE = "Decode"
    ENCODE = "Encode"

    @property
    def label(self) -> str:
        """How labels and routers spell the kind."""
        return self.value.lower()

    @property
    def letter(self) -> str:
        """The kind's letter in `status.roleSummary`."""
        return self.value[0]


class PullPolicy(StrEnum):
    """When the kubelet pulls an image."""

    ALWAYS = "Always"
    IF_NOT_PRESENT = "IfNotPresent"
    NEVER = "Never"


class Protocol(StrEnum):
    """Transport of a container port."""

    TCP = "TCP"
    UDP = "UDP"
    SCTP = "SCTP"


class EngineName(StrEnum):
    """Inference engines the operator renders."""

    VLLM = "vLLM"
    SGLANG = "SGLang"


class RouterName(StrEnum):
    """Routers the operator runs in front of a deployment."""

    LLM_D = "llm-d-router"
    VLLM = "vllm-router"
    SGLANG = "sglang-gateway"


class Connector(StrEnum):
    """Connectors between an engine and a shared cache."""

    MOONCAKE = "Mooncake"


class TransferProtocol(StrEnum):
    """Transports between the two engines of a pair."""

    AUTO = "Auto"
    TCP = "TCP"
    RDMA = "RDMA"
    EFA = "EFA"
    CANN = "CANN"
    ROCM = "ROCM"


class StoreProtocol(StrEnum):
    """Transports between a store's members and engines."""

    AUTO = "Auto"
    TCP = "TCP"
    RDMA = "RDMA"
    EFA = "EFA"
    CANN = "CANN"
    ROCM = "ROCM"
    MUSA = "MUSA"
    MACA = "MACA"
