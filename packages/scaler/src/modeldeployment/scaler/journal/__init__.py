"""What every pass was decided from and what it came to, so that it can be told and repeated.

In causal order: a `Line` is one pass; `encode` and `decode` make JSON of it and back. `Journal` keeps the last passes
of every scaler in a `Ring`, and hands them to a `Writer`, which writes files. `read` reads them again, `repeat`
plans a line once more, and `difference` says where the plan that it has and the repeated one part.
"""

from modeldeployment.scaler.journal.comparing import Difference, difference
from modeldeployment.scaler.journal.keeping import Journal
from modeldeployment.scaler.journal.line import Line, decode, encode
from modeldeployment.scaler.journal.reading import Recorded, Torn, parse, read
from modeldeployment.scaler.journal.repeating import repeat
from modeldeployment.scaler.journal.ring import Ring
from modeldeployment.scaler.journal.writing import Writer

__all__ = [
    "Difference",
    "Journal",
    "Line",
    "Recorded",
    "Ring",
    "Torn",
    "Writer",
    "decode",
    "difference",
    "encode",
    "parse",
    "read",
    "repeat",
]
