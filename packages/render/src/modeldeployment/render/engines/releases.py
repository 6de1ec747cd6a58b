"""The oldest releases of each engine, by backend, and what is known to fail at them; of several floors the last holds.

Sources: facts engine-versions §1 and §3, facts encode §2, spec 2 §Counting engine tokens.
"""

from typing import Final

from modeldeployment.render.releases import Failure, Floor, Use

_UNRUN: Final = "nothing older was run with this operator; it may serve while no block moves"
_UNCOUNTED: Final = "older ones answer none of llm-d-router's token counts, and nothing reports it"
_NO_ENCODER: Final = "older ones hand no encoder output over"

VLLM_FLOORS: Final = (
    Floor(Use.ANY, "0.29.0", _UNRUN),
    Floor(Use.COUNTING, "0.30.0", _UNCOUNTED),
    Floor(Use.ENCODING, "0.30.0", _NO_ENCODER),
)
VLLM_FAILURES: Final = (
    Failure(
        Use.PAIRED_AND_STORED,
        "an assertion about transfer statistics ends the engine once blocks have moved",
        "a runner image that carries the fix",
    ),
)

ASCEND_FLOORS: Final = (
    Floor(Use.ANY, "0.23.0", _UNRUN),
    Floor(Use.COUNTING, "0.30.0rc1", _UNCOUNTED),
)

SGLANG_FLOORS: Final = (Floor(Use.ANY, "0.5.18", _UNRUN),)
SGLANG_FAILURES: Final = (
    Failure(
        Use.PAIRED_OVER_TCP,
        "Prefill opens a connection a transfer; under load its ports run out and every request through the pair fails "
        "until its Pods restart",
        "the setting model-deployment-tcp-tw-reuse, once the nodes allow the sysctl",
    ),
    Failure(
        Use.STORED,
        "the engine pins a pool of host memory for the cache",
        "nodes with more memory available than that pool and what the engine holds back",
    ),
)
