"""Which owned argument a spelling stands for.

A refusal errs to refusing: any prefix of an owned argument counts, unique or not, because an ambiguous one would stop
the engine at its start anyway. What is spared is a prefix that is itself the exact spelling of another flag the engine
has: the engine reads that flag and no other. Sources: facts admission §5, decisions D33.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from modeldeployment.render.flags import SHORTEST, Flags


def readings(keys: Iterable[str], flags: Flags) -> Mapping[str, tuple[str, ...]]:
    """Answer every spelling that stands for some of `keys`, and for which of them, in their order.

    Aliases an engine registers for an owned flag are the flag: SGLang's ``--model`` is ``--model-path``.
    """
    found: dict[str, list[str]] = {}
    for key in keys:
        for spelling in flags.same(key) or (key,):
            for end in range(SHORTEST, len(spelling) + 1):
                said = spelling[:end]
                exact = flags.same(said)
                if (not exact or key in exact) and key not in found.setdefault(said, []):
                    found[said].append(key)
    return MappingProxyType({said: tuple(stands_for) for said, stands_for in found.items() if stands_for})
