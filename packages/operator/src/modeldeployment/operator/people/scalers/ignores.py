"""What a GitOps controller has to leave alone on a scaled deployment: its counts, and both annotations of its scaler.

Source: spec 3 §GitOps sync.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final

from modeldeployment.api import keys
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people import emitting, manifests

ANNOTATIONS: Final = (keys.SCALER_BINDING, keys.SCALER_DECISION)


class For(StrEnum):
    """Whose settings are written."""

    ARGOCD = "argocd"
    FLUX = "flux"


def in_files(files: list[str], name: str, namespace: str | None) -> dict[str, Any]:
    """The deployment of that name in files; raises UsageError naming those that are there."""
    found = [each for each in manifests.read(files) if each.kind == "ModelDeployment"]
    mine = [each for each in found if each.name == name and namespace in (None, each.namespace or "default")]
    if not mine:
        there = ", ".join(dict.fromkeys(f"{each.namespace or 'default'}/{each.name}" for each in found))
        where = f"{namespace}/{name}" if namespace else name
        raise UsageError(f"{', '.join(files)}: there is no ModelDeployment {where}; {_there(there)}")
    if len(mine) > 1:
        places = ", ".join(f"{each.file}:{each.position(())[0]}" for each in mine)
        raise UsageError(
            f"ModelDeployment {name} is there {len(mine)} times: {places}; name one with -n or give one file"
        )
    return mine[0].body


def lines(body: dict[str, Any], namespace: str, whose: For) -> Iterator[str]:
    """The settings as YAML, in the shape of the specification; raises UsageError for a deployment without roles."""
    spec = body.get("spec")
    roles = spec.get("roles") if isinstance(spec, dict) else None
    name = body["metadata"]["name"]
    if not isinstance(roles, list) or not roles:
        raise UsageError(f"ModelDeployment {name} has no spec.roles, so there are no counts to ignore")
    pointers = [f"/spec/roles/{index}/replicas" for index in range(len(roles))]
    pointers += [f"/metadata/annotations/{each.replace('~', '~0').replace('/', '~1')}" for each in ANNOTATIONS]
    target = (
        f"group: {keys.GROUP}",
        "kind: ModelDeployment",
        f"name: {_scalar(name)}",
        f"namespace: {_scalar(namespace)}",
    )
    match whose:
        case For.ARGOCD:
            first, *others = target
            yield from ("spec:", "  ignoreDifferences:", f"    - {first}", *(f"      {each}" for each in others))
            yield from ("      jsonPointers:", *(f"        - {each}" for each in pointers))
            yield from ("  syncPolicy:", "    syncOptions:", "      - RespectIgnoreDifferences=true")
        case For.FLUX:
            yield from ("apiVersion: kustomize.toolkit.fluxcd.io/v1", "kind: Kustomization", "spec:", "  ignore:")
            yield from ("    - target:", *(f"        {each}" for each in target))
            yield from ("      paths:", *(f"        - {each}" for each in pointers))


def _scalar(text: str) -> str:
    """A name as YAML, in quotes where it would be read as something else."""
    return emitting.dumped({"text": text}).removeprefix("text: ").rstrip("\n")


def _there(names: str) -> str:
    return f"there is {names}" if names else "there is none at all"
