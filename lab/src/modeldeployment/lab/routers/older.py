"""What the pinned picker, v0.7.1, and its routing proxy can be given of what is rendered for v0.10: pure.

The plugins it has, the profiles and what they refer to stay; what it lacks is left out, with whatever refers to that.
Told of a selector it ends, asking for the name of a pool, which it refuses beside one. So it is told of a pool that has
the selector. Source: facts control-plane §10.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

OLDER_API: Final = "inference.networking.x-k8s.io/v1alpha1"
UNKNOWN: Final = frozenset(
    {
        "token-producer",
        "endpoint-notification-source",
        "precise-prefix-cache-producer",
        "approx-prefix-cache-producer",
        "core-metrics-extractor",
    }
)
"""Plugin types that v0.7.1 does not have; with them go the data layer and the name of the producer it scores by."""
RENAMED: Final[Mapping[str, str]] = {"label-selector-filter": "by-label-selector"}
ADDED: Final = "disagg-headers-handler"
"""What names the prefill half to a decode half's proxy there; in v0.10 the profile handler of a pair does so itself."""
_PAIRS: Final = "disagg-profile-handler"
_GATE: Final = "prepareDataPlugins"
"""Without it the decider of a pair is told nothing of caches there, and splits no request."""
_POOLED: Final = ("--endpoint-selector", "--endpoint-target-ports")
_RENAMED_FLAGS: Final[Mapping[str, str]] = {"--model-server-port": "--vllm-port"}


def document(rendered: str) -> str:
    """Cut a picker's document down to what the pinned one knows."""
    read = yaml.safe_load(rendered)
    read["apiVersion"] = OLDER_API
    read.pop("dataLayer", None)
    read["plugins"] = [_plugin(plugin) for plugin in read["plugins"] if plugin["type"] not in UNKNOWN]
    if any(plugin["type"] == _PAIRS for plugin in read["plugins"]):
        read["featureGates"] = [_GATE]
        read["plugins"].append({"type": ADDED})
    text: str = yaml.safe_dump(read)
    return text


def selector(rendered: str) -> dict[str, str]:
    """Answer the equalities of a selector: a pool takes no other terms.

    Left out is that a Pod is no router's, which none is that may be sent requests.
    """
    return dict(term.split("=", 1) for term in rendered.split(",") if "=" in term and not term.startswith("!"))


def of_a_pool(rendered: Sequence[str], namespace: str, pool: str) -> list[str]:
    """Answer the arguments of a picker with a pool in the place of its selector and ports."""
    kept = [word for word in rendered if word.partition("=")[0] not in _POOLED]
    return [f"--pool-name={pool}", f"--pool-namespace={namespace}", *kept]


def arguments(rendered: Sequence[str]) -> list[str]:
    """Call the arguments of a routing proxy what the pinned one calls them."""
    parted = (word.partition("=") for word in rendered)
    return [_RENAMED_FLAGS.get(flag, flag) + equals + value for flag, equals, value in parted]


def _plugin(plugin: Mapping[str, Any]) -> dict[str, Any]:
    older = {**plugin, "type": RENAMED.get(plugin["type"], plugin["type"])}
    if older["type"] == "prefix-cache-scorer":
        older.pop("parameters", None)
    return older
