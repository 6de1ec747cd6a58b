"""Who holds the names of missing objects: read by name where few are wanted, listed where many are."""

from typing import Any

import msgspec
import pytest
from modeldeployment.kube import Forbidden, NotFound
from modeldeployment.kube.errors import ApiError
from modeldeployment.kube.requests import Request
from modeldeployment.reconcile import Answers, Ask, Fact, Names, OwnedKind
from modeldeployment.reconcile.answering import READ_AT_ONCE, answer
from reconcile_rim import Scripted, refusal
from reconcile_stored import CHAT

SERVICES = "/api/v1/namespaces/team/services"
MANY = tuple(f"chat-{number}" for number in range(READ_AT_ONCE + 1))


class Holding(Scripted):
    """An API server with Services by name, each of the deployment with the UID that is its value."""

    def __init__(self, **owners: str) -> None:
        super().__init__()
        self.services = {
            name.replace("_", "-"): {
                "metadata": {
                    "name": name.replace("_", "-"),
                    "uid": f"uid-{name}",
                    "ownerReferences": [{"kind": "ModelDeployment", "uid": owner, "controller": True}],
                }
            }
            for name, owner in owners.items()
        }

    async def raw(self, request: Request) -> bytes:
        """Answer one read."""
        self.sent.append(request)
        path = request.target.partition("?")[0]
        if path == SERVICES:
            document: dict[str, Any] = {"metadata": {"resourceVersion": "1"}, "items": [*self.services.values()]}
            return msgspec.json.encode(document)
        refused: ApiError | None = self.refuse(request)
        found = self.services.get(path.removeprefix(f"{SERVICES}/"))
        if refused is not None or found is None:
            raise refused or refusal(NotFound, 404)
        return msgspec.json.encode(found)

    def asked(self) -> set[str]:
        """Where each read so far led."""
        return {each.target.partition("?")[0] for each in self.sent}


async def names_of(client: Holding, *wanted: str) -> Names:
    """The answer of who holds Services of these names."""
    ask = Ask(Fact.NAMES, names={OwnedKind.SERVICE: wanted})
    return (await answer(client, CHAT, "uid-chat", Answers(), ask)).names[OwnedKind.SERVICE]


async def test_few_names_are_read_one_by_one_and_nothing_else_of_the_namespace() -> None:
    client = Holding(chat="uid-chat", chat_server="uid-of-another", unrelated="uid-of-another")
    assert await names_of(client, "chat", "chat-server", "chat-free") == Names(
        foreign=frozenset({"chat-server"}), ours={"chat": "uid-chat"}
    )
    assert client.asked() == {f"{SERVICES}/chat", f"{SERVICES}/chat-server", f"{SERVICES}/chat-free"}
    assert all("PartialObjectMetadata" in each.accept for each in client.sent)


async def test_many_names_are_answered_by_one_list_and_only_they() -> None:
    client = Holding(chat_0="uid-chat", chat_8="uid-of-another", unrelated="uid-of-another")
    assert await names_of(client, *MANY) == Names(foreign=frozenset({"chat-8"}), ours={"chat-0": "uid-chat_0"})
    assert client.asked() == {SERVICES}


async def test_a_read_that_is_refused_answers_nothing() -> None:
    client = Holding(chat="uid-chat")
    client.refuse = lambda request: refusal(Forbidden, 403) if request.target.endswith("/chat-server") else None
    with pytest.raises(Forbidden):
        await names_of(client, "chat", "chat-server")
