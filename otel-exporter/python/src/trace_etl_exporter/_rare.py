"""Handles the rare cases of tracer and span in Python, by the code of SDK and API."""

import functools
import inspect
import logging
import traceback
from collections.abc import Callable, Mapping
from contextvars import ContextVar

from opentelemetry import context as context_api
from opentelemetry import trace
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.context import Context, attach, detach, get_current, set_value
from opentelemetry.sdk.trace import Event
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, TraceFlags, TraceState
from opentelemetry.trace.status import Status, StatusCode

__all__ = [
    "Context",
    "Span",
    "SpanContext",
    "Status",
    "attach",
    "detach",
    "get_current",
    "set_value",
]

_logger = logging.getLogger("trace_etl_exporter")

KINDS = (
    SpanKind.INTERNAL,
    SpanKind.SERVER,
    SpanKind.CLIENT,
    SpanKind.PRODUCER,
    SpanKind.CONSUMER,
)
STATUS_CODES = (StatusCode.UNSET, StatusCode.OK, StatusCode.ERROR)
TRACE_FLAGS = tuple(TraceFlags(flags) for flags in range(4))
RANDOM_FLAG = getattr(TraceFlags, "RANDOM_TRACE_ID", 0)
EMPTY_STATE = TraceState.get_default()
# The API does not export the key, but a context that has it.
(SPAN_KEY,) = trace.set_span_in_context(trace.INVALID_SPAN, Context())


def _current_variable() -> ContextVar | None:
    """Returns the API's ContextVar of the current context; None if it uses something else.

    With it the extension reads and sets the context itself; without it, it calls the API.
    """
    runtime = getattr(context_api, "_RUNTIME_CONTEXT", None)
    variable = getattr(runtime, "_current_context", None)
    if type(runtime).__name__ != "ContextVarsRuntimeContext" or type(variable) is not ContextVar:
        return None
    probe = Context()
    token = attach(probe)
    try:
        return variable if variable.get() is probe else None
    finally:
        detach(token)


CURRENT_VARIABLE = _current_variable()


def warn(message: str) -> None:
    _logger.warning(message)


def _limit(number: int) -> int | None:
    return None if number < 0 else number


def clean(attributes: Mapping, most: int, longest: int) -> tuple[dict, int]:
    """Returns the attributes that the API accepts of the mapping, and how many it drops."""
    if most == 0:
        return {}, len(attributes)
    cleaned = BoundedAttributes(None, attributes, max_value_len=_limit(longest))
    return {str.__str__(key): value for key, value in cleaned.items()}, cleaned.dropped


def new_link(
    context: SpanContext, attributes: Mapping | None, most: int, longest: int
) -> Link | None:
    """Returns the link; None if it has no content."""
    if not context or not (context.is_valid or attributes or context.trace_state):
        return None
    bounded = BoundedAttributes(_limit(most), attributes, max_value_len=_limit(longest))
    return Link(context, bounded)


def own_link(link: Link, most: int, longest: int) -> Link | None:
    return new_link(link.context, link.attributes, most, longest) if link else None


def exception_attributes(
    exception: BaseException, attributes: Mapping | None, escaped: bool
) -> dict[str, object]:
    kind = type(exception)
    module = kind.__module__
    named = {
        "exception.type": f"{module}.{kind.__qualname__}"
        if module and module != "builtins"
        else kind.__qualname__,
        "exception.message": str(exception),
        "exception.stacktrace": "".join(traceback.format_exception(exception)),
        "exception.escaped": str(escaped),
    }
    if attributes:
        named.update(attributes)
    return named


def description(code: StatusCode, text: object) -> str | None:
    return Status(code, text).description


def events(recorded: list[tuple]) -> tuple[Event, ...]:
    return tuple(Event(name, attributes or {}, nanos) for name, nanos, attributes in recorded)


def decorate(current, function: Callable) -> Callable:
    """Returns the function with a span around each call, or around a coroutine's whole run."""
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def around_coroutine(*args, **kwargs):
            with current.again():
                return await function(*args, **kwargs)

        return around_coroutine

    @functools.wraps(function)
    def around(*args, **kwargs):
        with current.again():
            return function(*args, **kwargs)

    return around
