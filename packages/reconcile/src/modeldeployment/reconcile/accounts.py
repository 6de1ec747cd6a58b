"""What replicas say of their operations on the shared store: read out of an engine's metrics, judged, remembered.

Only what an engine says outright counts. Silence says nothing, and neither does a cold cache, which is asked and has no
block (decisions D10). Sources: facts status §10 `CacheAttached`, facts metrics §2, and the engines' own collectors:
`MooncakeStorePromMetrics` of vLLM 0.32.0 and `StorageMetricsCollector` of SGLang 0.5.23.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from modeldeployment.reconcile.deciding.seen import Account
from modeldeployment.router import exposition

_CALLS: Final = "vllm:mooncake_store_operation_total"
_KEYS: Final = "vllm:mooncake_store_operation_keys_total"
_FAILED: Final = "vllm:mooncake_store_operation_failed_keys_total"
_HITS: Final = "vllm:external_prefix_cache_hits_total"
"""Tokens of any connector: on the Decode half of a pair they came from the other half (facts metrics §2)."""
_MOVED: Final = (
    "sglang:backuped_tokens_total",
    "sglang:prefetched_tokens_total",
    "sglang:storage_prefetch_hit_tokens_total",
)
"""Tokens that SGLang wrote to the store, read from it, or found there. It counts no attempt that failed."""
_READ: Final = frozenset((_CALLS, _KEYS, _FAILED, _HITS, *_MOVED))
_OK: Final = "ok"
_PARTLY: Final = "partial_failure"
_OUTCOMES: Final = (_OK, _PARTLY, "error")
_MOST: Final = 2048
"""Series of one body that are read: an engine has some hundred of these at most."""

Tally: TypeAlias = Mapping[exposition.Series, float]
"""Counters of operations on the store, by name and labels; empty where a body has none of them."""


def tally(body: bytes) -> Tally:
    """Read the counters out of a body of `/metrics`. A body or a value that cannot be read has none."""
    try:
        found = exposition.series(body, _READ, _MOST)
    except exposition.Unreadable:
        return {}
    return {series: value for series, value in found.items() if math.isfinite(value) and value >= 0}


def judge(before: Tally | None, now: Tally, *, decodes: bool) -> Account | None:
    """Say what happened between two tallies of one engine, or since its start where there is no earlier one.

    `decodes` says whether the replica is a pair's Decode half. None: nothing that tells of the store.
    """
    happened = _since(before, now)
    calls = [
        labels
        for (name, labels), count in happened.items()
        if name == _CALLS and count > 0 and dict(labels).get("status") in _OUTCOMES
    ]
    succeeded = any(_succeeded(labels, happened) for labels in calls)
    hits = () if decodes else (_HITS,)
    if succeeded or any(count > 0 for (name, _), count in happened.items() if name in (*hits, *_MOVED)):
        return Account.SUCCEEDING
    return Account.FAILING if calls else None


def _since(before: Tally | None, now: Tally) -> Tally:
    """Take away what was counted before; an engine that counts less than before has started anew."""
    if before is None or any(now.get(series, 0) < count for series, count in before.items()):
        return now
    return {series: count - before.get(series, 0) for series, count in now.items()}


def _succeeded(labels: exposition.Labels, happened: Tally) -> bool:
    """Whether calls of one operation and outcome did something; of a partial failure, whether a key got through."""
    status = dict(labels).get("status")
    through = happened.get(exposition.Series(_KEYS, labels), 0) > happened.get(exposition.Series(_FAILED, labels), 0)
    return status == _OK or (status == _PARTLY and through)


@dataclass(slots=True)
class _Heard:
    tally: Tally
    account: Account | None
    missed: int = 0


@dataclass(slots=True)
class Accounts:
    """The account of each replica by the UID of its leader; `changed` is called with the UID when one changes.

    A replica that is idle keeps the account it gave last. One that is not heard `patience` times in a row has none.
    """

    changed: Callable[[str], None]
    patience: int = 3
    _heard: dict[str, _Heard] = field(default_factory=dict)

    def of(self, uid: str) -> Account | None:
        """Answer what a member says of the store; None where it says nothing."""
        heard = self._heard.get(uid)
        return heard.account if heard else None

    def among(self, uids: Iterable[str]) -> dict[str, Account]:
        """Answer the accounts of those of these members that gave one."""
        if not self._heard:
            return {}
        return {uid: account for uid in uids if (account := self.of(uid)) is not None}

    def hear(self, uid: str, now: Tally, *, decodes: bool) -> None:
        """Take in what an engine counts now."""
        heard = self._heard.get(uid)
        before = heard.tally if heard else None
        account = judge(before, now, decodes=decodes) or self.of(uid)
        self._put(uid, _Heard(now, account))

    def miss(self, uid: str) -> None:
        """Note that an engine could not be heard."""
        heard = self._heard.get(uid)
        if heard is None:
            return
        missed = heard.missed + 1
        self._put(uid, _Heard(heard.tally, heard.account if missed < self.patience else None, missed))

    def keep(self, uids: Collection[str]) -> None:
        """Forget everybody but these."""
        for uid in [uid for uid in self._heard if uid not in uids]:
            account = self._heard.pop(uid).account
            if account is not None:
                self.changed(uid)

    def forget(self) -> None:
        """Forget everybody and tell nobody."""
        self._heard.clear()

    def _put(self, uid: str, heard: _Heard) -> None:
        said = self.of(uid)
        self._heard[uid] = heard
        if heard.account is not said:
            self.changed(uid)
