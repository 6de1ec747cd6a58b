"""Table A of facts admission §9: roles, names and kinds."""

from typing import Any, Final

from admission_case import Case, Refused


def _role(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "instanceType": "h20-8x", **more}


def _servers(count: int) -> list[dict[str, Any]]:
    return [_role(f"server-{index}") for index in range(count)]


_PAIR: Final = [_role("prefill", kind="Prefill"), _role("decode", kind="Decode")]
_LONG: Final = "s" * 55
_ROUTED: Final = {"spec.router": {"name": "llm-d-router"}}
_FORTY: Final = {"metadata.name": "d" * 40, "spec.roles": [_role("r" * 20)]}
_SIXTY_THREE: Final = {"spec.roles[0].name": "r" * 48, "spec.roles[0].size": 2}


TABLE: Final = (
    Case("A1-one"),
    Case("A1-two-servers", {"spec.roles": [_role("prefill"), _role("decode")]}),
    Case("A1-three-servers", {"spec.roles": _servers(3)}),
    Case("A2", {"spec.roles": _servers(10)}),
    Case(
        "A3",
        {"spec.roles": _servers(11)},
        refused=(Refused("MD001", "spec.roles", ("11", "this operator's own shape limit", "10")),),
    ),
    Case(
        "A4",
        {"spec.roles": [_role("worker"), _role("worker")]},
        refused=(
            Refused(
                "MD002",
                "spec.roles[1].name",
                ("duplicate", "spec.roles[0].name", "group that declares a single member"),
            ),
        ),
    ),
    Case(
        "A5",
        {"spec.roles[0].name": _LONG},
        refused=(
            Refused(
                "MD003",
                "spec.roles[0].name",
                (f"qwen-72b-{_LONG}", "not a valid Service name", "64", "63 characters", "shorten"),
            ),
        ),
    ),
    Case("A6", {"spec.roles[0].name": "s" * 54}),
    Case(
        "A7",
        {"metadata.name": "team.model.serving", "spec.roles[0].name": "prefill"},
        refused=(
            Refused("MD048", "metadata.name", ("team.model.serving", "not a valid Service name", "DNS-1035")),
            Refused(
                "MD003",
                "spec.roles[0].name",
                ("team.model.serving-prefill", "26", "not a valid Service name", "DNS-1035"),
                spares=("63",),
            ),
        ),
    ),
    Case("A8", {"spec.roles[0].name": _LONG, "spec.roles[0].replicas": 5}, old={"spec.roles[0].name": _LONG}),
    Case(
        "A9",
        {"spec.roles[1]": _role(_LONG)},
        old={},
        refused=(
            Refused("MD003", "spec.roles[1].name", ("not a valid Service name",)),
            Refused("MD033", "spec.roles[1].name"),
        ),
    ),
    Case("A10-two-types", {"spec.roles": [_role("a"), _role("b", instanceType="mi300x")]}),
    Case("A10-outlier-first", {"spec.roles": [_role("a", instanceType="mi300x"), _role("b"), _role("c")]}),
    Case("A11-size-1", {"spec.roles[0].size": 1}),
    Case("A11-size-2", {"spec.roles[0].size": 2}),
    Case("A12-vllm", {"spec.roles": _PAIR}),
    Case("A12-sglang", {"spec.engine": {"name": "SGLang", "version": "0.5.23"}, "spec.roles": _PAIR}),
    Case(
        "A13-server",
        {"spec.roles": [_role("server", kind="Server"), _role("prefill", kind="Prefill")]},
        refused=(
            Refused(
                "MD006", "spec.roles[0].kind", ("serves whole requests alone", "cannot be combined with another kind")
            ),
            Refused("MD006", "spec.roles[1].kind", ("cannot be combined with another kind", '"server"')),
        ),
    ),
    Case(
        "A13-unset",
        {"spec.roles": [_role("prefill", kind="Prefill"), _role("server")]},
        refused=(
            Refused("MD006", "spec.roles[0].kind", ("cannot be combined with another kind",)),
            Refused("MD006", "spec.roles[1].kind", ("cannot be combined with another kind", '"prefill"')),
        ),
    ),
    # No kind the schema takes lacks a rendering, so the schema's own refusal stands for the row.
    Case("A14", {"spec.roles[0].kind": "router"}, refused=(Refused("MD905", "spec.roles[0].kind", ("router",)),)),
    Case(
        "A15",
        {"spec.roles": [_role("prefill-a", kind="Prefill"), _role("prefill-b", kind="Prefill")]},
        refused=(Refused("MD007", "spec.roles[1].kind", ("Prefill", 'already declared by role "prefill-a"')),),
    ),
    Case(
        "A16",
        {"spec.roles": [_role("decode-a", kind="Decode"), _role("decode-b", kind="Decode")]},
        refused=(Refused("MD007", "spec.roles[1].kind", ("Decode", 'already declared by role "decode-a"')),),
    ),
    Case("A17", _FORTY),
    Case(
        "A18",
        {**_FORTY, "spec.roles[0].size": 2},
        refused=(
            Refused(
                "MD005",
                "spec.roles[0]",
                (f'"{"d" * 40}-{"r" * 20}-r0-m1"', "67", "hostname", "shorten the role", "shorten the deployment"),
                spares=("size",),
            ),
        ),
    ),
    Case("A19", {**_SIXTY_THREE, "spec.roles[0].replicas": 10}),
    Case(
        "A20",
        {**_SIXTY_THREE, "spec.roles[0].replicas": 11},
        old={**_SIXTY_THREE, "spec.roles[0].replicas": 10},
        refused=(Refused("MD005", "spec.roles[0]", ("-r10-m1", "64", "fewer replicas"), spares=("size",)),),
    ),
    Case("A21", {"spec.roles": [_role("x", replicas=2, size=1), _role("x-r0")]}),
    Case(
        "A22",
        {"spec.roles": [_role("x", replicas=2, size=2), _role("x-r0")]},
        refused=(
            Refused("MD004", "spec.roles[1].name", ('"qwen-72b-x-r0"', '"x"', '"x-r0"', "spec.roles[0]", "replica 0")),
        ),
    ),
    Case("A23", {"spec.roles": [_role("x", size=2), _role("y")]}),
    Case(
        "A24",
        {"spec.roles[0].name": "router", **_ROUTED},
        refused=(
            Refused(
                "MD004",
                "spec.roles[0].name",
                ('"qwen-72b-router"', "Service fronting the managed router", "spec.router", '"router"'),
            ),
        ),
    ),
    Case("A25", {"spec.roles[0].name": "router"}),
    Case(
        "A26-pair",
        {
            "spec.roles": [
                _role("prefill", kind="Prefill", resources={"accelerator": 1}),
                _role("decode", kind="Decode", instanceType="ascend-910b", resources={"accelerator": 1}),
            ]
        },
    ),
    Case("A26-servers", {"spec.roles": [_role("a"), _role("b", instanceType="ascend-910b")]}),
)
