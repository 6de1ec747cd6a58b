"""Which owned argument a spelling stands for.

A refusal errs to refusing: any prefix of an owned argument counts, unique or not, because an ambiguous one would stop
the engine at its start anyway. What is spared is a prefix that is itself the exact spelling of another flag the engine
has: the engine reads that flag and no other. Sources: facts admission §5, decisions D33.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from modeldeployment.render.flags import SHORTEST, Flags

_NOTHING: Final[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True)
class Spellings:
    """Every spelling that stands for some owned arguments, and for which of them, in their order.

    `openings` are the first characters of them all: most arguments are told apart by those.
    """

    flags: Flags
    stands_for: Mapping[str, tuple[str, ...]]
    openings: frozenset[str]

    def owned(self, argument: str, keys: Container[str]) -> str | None:
        """Answer the first of `keys` that an argument spells; its length is all it costs."""
        if argument[:SHORTEST] not in self.openings:
            return None
        for key in self.stands_for.get(self.flags.stem(argument), _NOTHING):
            if key in keys:
                return key
        return None


def spellings(keys: Iterable[str], flags: Flags) -> Spellings:
    """Work out every spelling of `keys`.

    What an engine registers beside an owned spelling is the same flag: SGLang's ``--model`` is ``--model-path``, and
    ``--no-mm-encoder-only`` would take back what ``--mm-encoder-only`` says.
    """
    found: dict[str, list[str]] = {}
    for key in keys:
        for spelling in flags.same(key) or (key,):
            for end in range(SHORTEST, len(spelling) + 1):
                said = spelling[:end]
                exact = flags.same(said)
                if (not exact or key in exact) and key not in found.setdefault(said, []):
                    found[said].append(key)
    stands_for = {said: tuple(owned) for said, owned in found.items() if owned}
    return Spellings(flags, stands_for, frozenset(said[:SHORTEST] for said in stands_for))
