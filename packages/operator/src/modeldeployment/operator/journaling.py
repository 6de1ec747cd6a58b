"""The scalers' journal as this process keeps it."""

import contextlib
import logging
from collections.abc import Iterator

from modeldeployment.operator.settings import Settings
from modeldeployment.scaler.journal import Journal, Writer

log = logging.getLogger(__name__)


@contextlib.contextmanager
def kept(settings: Settings) -> Iterator[Journal]:
    """A journal in memory and, where the settings name a directory, in files; what waits is written at the end."""
    writer: Writer | None = None
    if settings.scaler_journal_dir is not None:
        size, count = settings.scaler_journal_file_bytes, settings.scaler_journal_files
        writer = Writer(settings.scaler_journal_dir, _tell, size=size, count=count)
        writer.start()
    try:
        yield Journal(settings.scaler_journal_passes, writer)
    finally:
        if writer is not None:
            writer.close()


def _tell(sentence: str) -> None:
    log.warning("journal of scalers", extra={"reason": sentence})
