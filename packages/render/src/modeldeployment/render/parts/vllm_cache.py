"""The client of the shared store in a vLLM engine. Source: facts rendering §4, facts kv-cache §6."""

from typing import Any, Final

from modeldeployment.api import keys
from modeldeployment.render.compose import Fragment
from modeldeployment.render.context import Context
from modeldeployment.render.documents import compact
from modeldeployment.render.parts.places import ANNOTATIONS, MAIN, SPEC
from modeldeployment.render.parts.volumes import covers
from modeldeployment.render.store import PEERS, Store

VOLUME: Final = "gpustack-kvcache-config"
DIRECTORY: Final = "/etc/gpustack/kvcache"
FILE: Final = "mooncake.json"

_LOCAL_BUFFER: Final = 128 * 2**20
"""Bytes through which one engine copies to and from the store."""


def client_environment(context: Context) -> Fragment:
    """Say where the client finds its document."""
    if context.joins.store is None:
        return {}
    return {(*MAIN, "env", "MOONCAKE_CONFIG_PATH"): {"value": f"{DIRECTORY}/{FILE}"}}


def client_file(context: Context) -> Fragment:
    """Carry the client's document in an annotation and project it, unless a volume of the role's own lies there."""
    joins = context.joins
    if joins.store is None:
        return {}
    said = compact(client_document(joins.store, joins.transport))
    item = {"path": FILE, "fieldRef": {"fieldPath": f"metadata.annotations['{keys.CLIENT_CONFIG}']"}}
    carried: dict[tuple[str, ...], Any] = {(*ANNOTATIONS, keys.CLIENT_CONFIG): said}
    if covers(context, DIRECTORY):
        return carried
    return carried | {
        (*SPEC, "volumes", VOLUME): {"downwardAPI": {"items": [item]}},
        (*MAIN, "volumeMounts", VOLUME): {"mountPath": DIRECTORY, "readOnly": True},
    }


def client_document(store: Store, transport: str) -> dict[str, Any]:
    """Answer the client's document, its keys in the order they are written.

    An engine gives no memory of its own to the store. No tenant is named to a master that keeps no ledger by tenant.
    """
    said: dict[str, Any] = {
        "metadata_server": PEERS,
        "master_server_address": store.master,
        "protocol": transport,
        "device_name": "",
        "mode": "standalone-store",
        "global_segment_size": 0,
        "local_buffer_size": _LOCAL_BUFFER,
    }
    return said | {"tenant_id": store.tenant} if store.tenant else said
