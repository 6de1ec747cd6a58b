"""Table F of facts admission §9: roles that ask for no accelerator."""

from typing import Any, Final

from admission_case import Case, Refused


def _role(name: str, accelerator: int, instance_type: str = "h20-8x") -> dict[str, Any]:
    return {"name": name, "instanceType": instance_type, "resources": {"accelerator": accelerator}}


def _zero(index: int) -> Refused:
    return Refused(
        "MD036",
        f"spec.roles[{index}].resources.accelerator",
        ("h20-8x", "request at least one accelerator", "move the CPU-only role to a non-acceleratable InstanceType"),
    )


TABLE: Final = (
    Case("F1", {"spec.roles": [_role("a", 0), _role("b", 0)]}, refused=(_zero(0), _zero(1))),
    Case("F2", {"spec.roles": [_role("a", 1), _role("b", 0)]}, refused=(_zero(1),)),
    Case("F3", {"spec.roles": [_role("a", 0)]}),
    Case("F4", {"spec.roles": [_role("a", 0), _role("b", 0, "h20-other")]}),
    Case("F5", {"spec.roles": [_role("a", 0, "cpu"), _role("b", 0, "cpu")]}),
)
