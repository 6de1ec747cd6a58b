"""Waits until the API server has writes reviewed by the operator, which is a while after it was asked to."""

import asyncio
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

import msgspec

from modeldeployment.kube import ApiError, Client, Invalid, Uncertain, Verb, request_for
from modeldeployment.lab.demo.errors import ClusterLost, OperatorEnded
from modeldeployment.lab.demo.operating import Operator
from modeldeployment.lab.demo.reading import DEPLOYMENTS

_PATIENCE: Final = 60.0
_PULSE: Final = 0.1
_NOT_YET: Final = (ApiError, Uncertain)
"""What an API server answers that knows of the webhook and cannot call it yet."""
_NO_VERSION: Final = "MD010"


async def reviewed(client: Client, operator: Operator, document: Mapping[str, Any]) -> None:
    """Return once writes of deployments go through both halves of the operator's webhook; nothing is stored.

    Raises OperatorEnded, and ClusterLost where the API server does not call it (facts control-plane §8).
    """
    try:
        async with asyncio.timeout(_PATIENCE):
            while not (await _refused(client, document) and await _defaulted(client, document)):
                if how := operator.ending():
                    raise OperatorEnded(f"the operator {how}; see {operator.log}")
                await asyncio.sleep(_PULSE)
    except TimeoutError as error:
        raise ClusterLost(
            f"the API server does not call the operator's webhook after {_PATIENCE:.0f} s; see {operator.log}"
        ) from error


async def _refused(client: Client, document: Mapping[str, Any]) -> bool:
    """Whether a deployment that only the webhook finds wrong is refused."""
    wrong = deepcopy(dict(document))
    del wrong["spec"]["engine"]["version"]
    try:
        await _tried(client, wrong)
    except Invalid as error:
        return _NO_VERSION in error.message
    except _NOT_YET:
        return False
    return False


async def _defaulted(client: Client, document: Mapping[str, Any]) -> bool:
    """Whether a field is set that only the webhook sets."""
    bare = deepcopy(dict(document))
    for role in bare["spec"]["roles"]:
        del role["resources"]
    try:
        stored = await _tried(client, bare)
    except _NOT_YET:
        return False
    return all("accelerator" in role.get("resources", {}) for role in stored["spec"]["roles"])


async def _tried(client: Client, document: Mapping[str, Any]) -> dict[str, Any]:
    """What the API server would store."""
    namespace = document["metadata"]["namespace"]
    request = request_for(Verb.CREATE, DEPLOYMENTS, namespace, body=document, query={"dryRun": "All"})
    answer: dict[str, Any] = msgspec.json.decode(await client.raw(request))
    return answer
