"""Our own rows: access to the host and the settings that allow it (facts admission §4 row 28 and §8)."""

from typing import Any, Final

from admission_case import Case, Refused
from modeldeployment.admission.facts import Policy

_PRIVILEGED: Final = "spec.roles[0].privileged"
_VOLUMES: Final = "spec.roles[0].additionalVolumes"


def _host(*paths: str, **fields: Any) -> dict[str, Any]:
    return {
        _VOLUMES: [
            {"mountPath": f"/mnt/{index}", "hostPath": {"path": path}, **fields} for index, path in enumerate(paths)
        ]
    }


def _path(index: int, path: str) -> Refused:
    return Refused("MD028", f"{_VOLUMES}[{index}].hostPath", (path, "instance-host-path-volume-allowed"))


_ROOT: Final = Refused("MD028", _PRIVILEGED, ("privileged", "instance-privileged-allowed"))
_SERVER: Final = {"name": "server", "instanceType": "h20-8x", "resources": {"accelerator": 1}}

TABLE: Final[tuple[Case, ...]] = (
    Case("N-privileged", {_PRIVILEGED: True}, refused=(_ROOT,)),
    Case("N-privileged-false", {_PRIVILEGED: False}),
    Case("N-privileged-allowed", {_PRIVILEGED: True}, policy=Policy(privileged_allowed=True)),
    Case("N-privileged-other-setting", {_PRIVILEGED: True}, policy=Policy(host_path_allowed=True), refused=(_ROOT,)),
    Case("N-privileged-held", {_PRIVILEGED: True, "spec.roles[0].replicas": 5}, old={_PRIVILEGED: True}),
    Case("N-privileged-gained", {_PRIVILEGED: True}, old={}, refused=(_ROOT,)),
    Case(
        "N-privileged-of-another-role",
        {"spec.roles": [_SERVER, _SERVER | {"name": "other", "privileged": True}]},
        old={"spec.roles": [_SERVER | {"privileged": True}, _SERVER | {"name": "other"}]},
        refused=(Refused("MD028", "spec.roles[1].privileged"),),
    ),
    Case("N-host-path", _host("/data", "/models"), refused=(_path(0, "/data"), _path(1, "/models"))),
    Case(
        "N-host-path-other-setting",
        _host("/data"),
        policy=Policy(privileged_allowed=True),
        refused=(_path(0, "/data"),),
    ),
    Case("N-host-path-held", _host("/data"), old=_host("/data")),
    Case("N-host-path-moved-in-the-container", _host("/models", "/data"), old=_host("/data", "/models")),
    Case("N-host-path-gained", _host("/data", "/models"), old=_host("/data"), refused=(_path(1, "/models"),)),
    Case("N-host-path-narrowed", _host("/data", readOnly=True), old=_host("/data")),
    Case("N-host-path-widened", _host("/data"), old=_host("/data", readOnly=True), refused=(_path(0, "/data"),)),
    Case("N-host-path-below", _host("/data/inner"), old=_host("/data"), refused=(_path(0, "/data/inner"),)),
    Case(
        "N-host-path-other-sub-path",
        _host("/data", subPath="b"),
        old=_host("/data", subPath="a"),
        refused=(_path(0, "/data"),),
    ),
    Case(
        "N-host-path-other-type",
        _host("/data", hostPath={"path": "/data", "type": "DirectoryOrCreate"}),
        old=_host("/data"),
        refused=(_path(0, "/data"),),
    ),
    Case(
        "N-volume-same-place",
        {
            _VOLUMES: [
                {"mountPath": "/data", "configMap": {"name": "a"}},
                {"mountPath": "/data/.", "configMap": {"name": "b"}},
            ]
        },
        refused=(Refused("MD018", f"{_VOLUMES}[1].mountPath", ("already mounted by", f"{_VOLUMES}[0]")),),
    ),
    Case(
        "N-volume-same-place-in-two-roles",
        {
            "spec.roles": [
                _SERVER | {"name": name, "additionalVolumes": [{"mountPath": "/data", "secret": {"name": "token"}}]}
                for name in ("a", "b")
            ]
        },
    ),
    Case(
        "N-volume-around-the-weights-by-dots",
        {
            "spec.model.artifactRef.name": "qwen-weights",
            _VOLUMES: [{"mountPath": "/var/lib/gpustack/x/../model", "secret": {"name": "token"}}],
        },
        refused=(Refused("MD020", f"{_VOLUMES}[0].mountPath", ("/var/lib/gpustack/model",)),),
    ),
    Case(
        "N-volume-over-the-weights-of-a-take-over",
        {
            "spec.model.artifactRef.name": "qwen-weights",
            "spec.roles[0].command": ["vllm", "serve", "/var/lib/gpustack/model"],
            _VOLUMES: [{"mountPath": "/var/lib/gpustack/model", "secret": {"name": "token"}}],
        },
        refused=(Refused("MD020", f"{_VOLUMES}[0].mountPath", ("/var/lib/gpustack/model",)),),
    ),
)
