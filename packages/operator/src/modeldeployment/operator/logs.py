"""Structured logs: every record says object and reason, one JSON object a line or readable columns."""

import logging
import sys

import structlog

from modeldeployment.operator.settings import Settings

EXPECTED = ("modeldeployment.admission.errors", "modeldeployment.kube.errors", "modeldeployment.reconcile.errors")
"""Errors from these modules explain themselves in one sentence; their traceback tells an operator nothing more."""


def configure(settings: Settings) -> None:
    """Send every log record of the process to standard error, in the chosen format."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(("object", "reason", "controller", "server")),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if settings.log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=0)
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _brief, _tracebacks(settings), last],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)


def _brief(_: object, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Drop the traceback of an error whose sentence says it all."""
    info = event.get("exc_info")
    error = info[1] if isinstance(info, tuple) else info
    if isinstance(error, BaseException) and type(error).__module__ in EXPECTED:
        del event["exc_info"]
    return event


def _tracebacks(settings: Settings) -> structlog.typing.Processor:
    if settings.log_format == "json":
        return structlog.processors.format_exc_info
    return lambda _, __, event: event
