"""Who stands where: the Pods of a deployment by seat, and proof that those whom nothing concerned were not touched."""

from typing import TypeAlias

from e2e_board import Board, ordinal, restarts
from modeldeployment.api import keys
from modeldeployment.kube.shapes import Pod

Seat: TypeAlias = tuple[str, int, int]
"""Role, ordinal, member."""

Standing: TypeAlias = dict[Seat, tuple[str, int]]
"""UID and restarts of the Pod in each seat."""


def seat(pod: Pod) -> Seat:
    """The seat a Pod's labels name."""
    labels = pod.metadata.labels
    return labels.get(keys.COMPONENT, ""), ordinal(pod), int(labels.get(keys.MEMBER_INDEX, "0"))


def standing(board: Board, name: str, *roles: str) -> Standing:
    """Who sits where now, leaving Pods and the router's left out; of these roles, or of all."""
    return {
        seat(pod): (pod.metadata.uid, restarts(pod))
        for pod in board.all_pods(name)
        if pod.metadata.deletion_timestamp is None
        and keys.ROUTER not in pod.metadata.labels
        and (not roles or seat(pod)[0] in roles)
    }


def stayed(before: Standing, after: Standing) -> set[Seat]:
    """The seats that the same Pod, never restarted in between, held before and holds after."""
    return {each for each in before if after.get(each) == before[each]}


def crowded(board: Board, name: str) -> int:
    """The most Pods that share one seat now, leaving ones included; never more than one in a healthy deployment."""
    seats = [seat(pod) for pod in board.all_pods(name) if keys.ROUTER not in pod.metadata.labels]
    return max((seats.count(each) for each in seats), default=0)
