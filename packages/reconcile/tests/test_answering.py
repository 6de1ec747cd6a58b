"""Who holds the names of missing objects: read by name where few are wanted, listed where many are."""

from typing import Any

import msgspec
import pytest
from modeldeployment.api import keys
from modeldeployment.kube import Forbidden, NotFound
from modeldeployment.kube.errors import ApiError
from modeldeployment.kube.requests import Request
from modeldeployment.reconcile import Answers, Ask, Fact, Names, OwnedKind
from modeldeployment.reconcile.answering import READ_AT_ONCE, answer
from modeldeployment.reconcile.deciding.seen import Lost
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


class Crowd(Scripted):
    """An API server with Pods, each of an owner and with labels; it lists those in a group, as it is asked to."""

    def __init__(self, *pods: tuple[str, str, dict[str, str]], leaving: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.pods: list[dict[str, Any]] = [
            {
                "metadata": {
                    "name": name,
                    "uid": f"uid-{name}",
                    "labels": labels,
                    "ownerReferences": [{"kind": "ModelDeployment", "uid": owner, "controller": True}] if owner else [],
                    **({"deletionTimestamp": "2030-01-01T00:00:00Z"} if name in leaving else {}),
                }
            }
            for name, owner, labels in pods
        ]

    async def raw(self, request: Request) -> bytes:
        """Answer one list."""
        self.sent.append(request)
        named = [each for each in self.pods if keys.GROUP_NAME in each["metadata"]["labels"]]
        return msgspec.json.encode({"metadata": {"resourceVersion": "1"}, "items": named})


OURS = {keys.NAME: keys.NAME_VALUE, keys.INSTANCE: "chat", keys.GROUP_NAME: "g"}


async def test_pods_left_are_counted_by_their_owner_whatever_they_are_labelled_with() -> None:
    crowd = Crowd(
        ("whole", "uid-chat", OURS),
        ("renamed", "uid-chat", {**OURS, keys.INSTANCE: "other"}),
        ("nameless", "uid-chat", {keys.GROUP_NAME: "g"}),
        ("nameless-leaving", "uid-chat", {keys.GROUP_NAME: "h"}),
        ("of-another", "uid-other", OURS),
        ("ownerless", "", OURS),
        leaving=("nameless-leaving",),
    )
    answers = await answer(crowd, CHAT, "uid-chat", Answers(), Ask(Fact.PODS_LEFT))
    assert answers.pods_left == 4
    assert answers.lost == (
        Lost("nameless", "uid-nameless", "g"),
        Lost("nameless-leaving", "uid-nameless-leaving", "h", leaving=True),
    )
    [request] = crowd.sent
    assert "PartialObjectMetadata" in request.accept


async def test_who_is_in_a_group_is_told_with_what_each_lacks() -> None:
    crowd = Crowd(
        ("whole", "uid-chat", OURS),
        ("nameless", "uid-chat", {keys.GROUP_NAME: "g"}),
        ("elsewhere", "uid-chat", {keys.GROUP_NAME: "h"}),
        ("ownerless", "", {**OURS, keys.GROUP_NAME: "i"}),
    )
    ask = Ask(Fact.ROLE_GROUPS, ("server",), {"server": ("g", "i", "j")})
    answers = await answer(crowd, CHAT, "uid-chat", Answers(), ask)
    assert answers.groups == {"server": frozenset({"g", "i"})}
    assert answers.lost == (Lost("nameless", "uid-nameless", "g"),)
    assert answers.strangers == {"i": "ownerless"}
