"""The rim: everything that talks to a Kubernetes API server, and nothing about what is said.

In causal order: an `Access` says where the server is and who we are; a `Client` sends requests about a `Kind` and
decodes the answers into slim `shapes`; a `Reflector` lists and watches a kind into a `Store`; changes in the store add
keys to a `WorkQueue`; a `Controller` takes keys and calls a function; an `Elector` makes sure that only one process
does; a `Recorder` tells people what happened; `fetching` asks Pods themselves. Each `Grant` says what a part asks of
the server.
"""

from modeldeployment.kube import errors, events, fetching, kinds, leader, shapes
from modeldeployment.kube.access import Access, Credential, load
from modeldeployment.kube.client import Client, Listing
from modeldeployment.kube.controller import Controller, Counters
from modeldeployment.kube.errors import (
    AccessError,
    AlreadyExists,
    ApiError,
    Conflict,
    Forbidden,
    Invalid,
    KubeError,
    Malformed,
    NotFound,
    ServerFailure,
    TooManyRequests,
    Unauthorized,
    Uncertain,
    Unreachable,
)
from modeldeployment.kube.events import EventType, Recorder
from modeldeployment.kube.grants import Grant, rules
from modeldeployment.kube.kinds import Kind, custom
from modeldeployment.kube.leader import Elector, Finished, Lost, Timing
from modeldeployment.kube.queue import Agenda, Closed, WorkQueue
from modeldeployment.kube.reflector import Reflector
from modeldeployment.kube.requests import (
    Added,
    Bookmark,
    Changed,
    Expired,
    Gone,
    PatchType,
    Request,
    Verb,
    WatchEvent,
    backoff,
    error_of,
    read_watch_line,
    request_for,
)
from modeldeployment.kube.store import Store

__all__ = [
    "Access",
    "AccessError",
    "Added",
    "Agenda",
    "AlreadyExists",
    "ApiError",
    "Bookmark",
    "Changed",
    "Client",
    "Closed",
    "Conflict",
    "Controller",
    "Counters",
    "Credential",
    "Elector",
    "EventType",
    "Expired",
    "Finished",
    "Forbidden",
    "Gone",
    "Grant",
    "Invalid",
    "Kind",
    "KubeError",
    "Listing",
    "Lost",
    "Malformed",
    "NotFound",
    "PatchType",
    "Recorder",
    "Reflector",
    "Request",
    "ServerFailure",
    "Store",
    "Timing",
    "TooManyRequests",
    "Unauthorized",
    "Uncertain",
    "Unreachable",
    "Verb",
    "WatchEvent",
    "WorkQueue",
    "backoff",
    "custom",
    "error_of",
    "errors",
    "events",
    "fetching",
    "kinds",
    "leader",
    "load",
    "read_watch_line",
    "request_for",
    "rules",
    "shapes",
]
