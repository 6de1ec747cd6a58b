"""The hubs an engine downloads weights from, in the words of their client libraries.

Sources: facts api-dependencies §6 and §7, facts admission §5.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Hub:
    """The variables one hub's client reads: where it keeps files, where the hub is and whose token opens it.

    `bare` says that its client puts the scheme before the hub's address itself.
    """

    home: str
    endpoint: str
    token: str
    bare: bool = False

    @property
    def environment(self) -> frozenset[str]:
        """Answer the names of all three."""
        return frozenset({self.home, self.endpoint, self.token})

    def address(self, endpoint: str) -> str:
        """Write the hub's URL as its client reads it; a bare address loses its scheme, the client picks one."""
        return endpoint.rpartition("://")[2].rstrip("/") if self.bare else endpoint


HUGGING_FACE: Final = Hub("HF_HOME", "HF_ENDPOINT", "HF_TOKEN")
MODEL_SCOPE: Final = Hub("MODELSCOPE_CACHE", "MODELSCOPE_DOMAIN", "MODELSCOPE_API_TOKEN", bare=True)

TOKEN_KEY: Final = "token"  # noqa: S105 -- names a key, holds no token
"""Key of the Secret an artifact names that holds its hub's token."""
