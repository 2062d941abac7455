"""Where ended spans go: into a ring while there is an agent, else to OTLP."""

import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.util._importlib_metadata import entry_points

from . import _files

_logger = logging.getLogger("trace_etl_exporter")

try:
    from ._ring import Writer
except ImportError as missing:
    from ._pure import Writer

    _logger.warning(
        "The extension trace_etl_exporter._ring is not there (%s): spans are written by Python "
        "code, which costs about thirty times as much. Install a wheel for this platform, or a C "
        "compiler and install again.",
        missing,
    )

DIRECTORY = "OTEL_EXPORTER_TRACE_ETL_DIRECTORY"
RING_BYTES = "OTEL_EXPORTER_TRACE_ETL_RING_BYTES"
DICTIONARY_BYTES = "OTEL_EXPORTER_TRACE_ETL_DICTIONARY_BYTES"

DEFAULT_DIRECTORY = "/dev/shm/trace-etl"
LOOK_AGAIN_SECONDS = 30


class Outlet:
    """Owns the process's ring. One per provider; any thread may call.

    The ring is made when the first span ends: a process without spans leaves no file. Where that
    fails, spans go to OTLP, if an exporter for it is installed, and are dropped if not; every 30 s
    one of them looks for the agent's directory again.
    """

    def __init__(
        self,
        resource: Callable[[], Mapping[str, object]],
        directory: str | None = None,
        ring_bytes: int | None = None,
        dictionary_bytes: int | None = None,
        fallback: SpanProcessor | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._resource = resource
        self._directory = directory or os.environ.get(DIRECTORY) or DEFAULT_DIRECTORY
        self._ring_bytes = _size(RING_BYTES, ring_bytes, 4 << 20, 64 << 10, 1 << 30)
        if self._ring_bytes & self._ring_bytes - 1:
            raise ValueError(f"{RING_BYTES} = {self._ring_bytes} must be a power of two")
        self._dictionary_bytes = _size(DICTIONARY_BYTES, dictionary_bytes, 1 << 20, 4096, 16 << 20)
        if self._dictionary_bytes % 4096:
            raise ValueError(f"{DICTIONARY_BYTES} = {self._dictionary_bytes} must be whole pages")
        self._fallback = fallback
        self._fallback_made = fallback is not None
        self._clock = clock
        self._next_look = 0.0
        self._looked = False
        self._shut_down = False
        self._lock = threading.Lock()
        self.writer: Writer | None = None
        # Set by who writes by himself: called with each new writer, and with None.
        self.on_writer: Callable[[Writer | None], None] = lambda writer: None
        itself = weakref.ref(self)

        def in_child() -> None:
            outlet = itself()
            if outlet is not None:
                outlet._in_forked_child()

        os.register_at_fork(after_in_child=in_child)

    def find_writer(self) -> Writer | None:
        """The ring's writer, made now if there is none and it is time to look; None: no agent."""
        writer = self.writer
        if writer is not None and writer.usable:
            return writer
        if not self._is_time():
            return None
        with self._lock:
            writer = self.writer
            if (writer is None or not writer.usable) and self._is_time():
                self._set_writer(None)
                try:
                    self._look()
                finally:
                    # Not before: who comes meanwhile is to wait for the ring.
                    self._looked = True
                    self._next_look = self._clock() + LOOK_AGAIN_SECONDS
            return self.writer

    def give_up(self, writer: Writer) -> None:
        """Says that this writer no longer writes: its file was removed."""
        with self._lock:
            if self.writer is writer:
                self._set_writer(None)
                self._looked = False
        writer.close()

    def otlp(self, span: ReadableSpan) -> None:
        """Hands a span to OTLP, if that is installed."""
        if self._shut_down:
            return
        if not self._fallback_made:
            with self._lock:
                if not self._fallback_made:
                    self._fallback = _otlp_processor()
                    self._fallback_made = True
        if self._fallback is not None:
            self._fallback.on_end(span)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._fallback is None or self._fallback.force_flush(timeout_millis)

    def shutdown(self) -> None:
        """Closes the ring; the agent reads what is in it and removes it. Later spans are dropped."""
        with self._lock:
            self._shut_down = True
            writer = self.writer
            self._set_writer(None)
        if writer is not None:
            writer.wake()
            writer.close()
        if self._fallback is not None:
            self._fallback.shutdown()

    def _is_time(self) -> bool:
        return not self._shut_down and (not self._looked or self._clock() >= self._next_look)

    def _look(self) -> None:
        first = not self._looked
        try:
            fd, path, header_bytes = _files.make(
                self._directory, self._resource(), self._dictionary_bytes, self._ring_bytes
            )
        except OSError as error:
            if first:
                _logger.info(
                    "No ring in %s (%s): spans go to OTLP; looking again every %d s.",
                    self._directory,
                    error,
                    LOOK_AGAIN_SECONDS,
                )
            return
        try:
            writer = Writer(
                fd,
                header_bytes,
                self._dictionary_bytes,
                self._ring_bytes,
                os.path.join(self._directory, "wake"),
            )
        except OSError as error:
            os.unlink(path)
            os.close(fd)
            _logger.warning("The ring %s cannot be mapped (%s): spans go to OTLP.", path, error)
            return
        _logger.info("Spans go to the ring %s.", path)
        self._set_writer(writer)
        writer.wake()

    def _set_writer(self, writer: Writer | None) -> None:
        self.writer = writer
        self.on_writer(writer)

    def _in_forked_child(self) -> None:
        """The parent's ring stays the parent's: closing it here does not touch its lock."""
        self._lock = threading.Lock()
        writer = self.writer
        self._set_writer(None)
        self._looked = False
        if writer is not None:
            writer.close()


def _otlp_processor() -> SpanProcessor | None:
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL"
    )
    names = ["otlp_proto_http", "otlp_proto_grpc"]
    if protocol is not None and protocol.strip() == "grpc":
        names.reverse()
    for name in names:
        for entry_point in entry_points(group="opentelemetry_traces_exporter", name=name):
            try:
                return BatchSpanProcessor(entry_point.load()())
            except Exception:
                _logger.exception("The OTLP exporter %s cannot be used.", name)
    _logger.warning(
        "There is neither an agent nor an OTLP exporter: spans are dropped until there is an "
        "agent. Install opentelemetry-exporter-otlp-proto-http to have them sent."
    )
    return None


def _size(key: str, given: int | None, default: int, least: int, most: int) -> int:
    text = os.environ.get(key, "")
    try:
        size = given if given is not None else int(text) if text else default
    except ValueError:
        raise ValueError(f"{key} = {text} must be a number of bytes") from None
    if not least <= size <= most:
        raise ValueError(f"{key} = {size} must be {least} to {most} bytes")
    return size
