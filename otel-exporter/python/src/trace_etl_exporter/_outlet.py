"""Sends ended spans to a ring if the host has an agent, else to OTLP."""

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
        "The extension trace_etl_exporter._ring is missing (%s): Python code writes the spans, "
        "at about thirty times the cost. Install a wheel for this platform, or install a C "
        "compiler and then this package again.",
        missing,
    )

DIRECTORY = "OTEL_EXPORTER_TRACE_ETL_DIRECTORY"
RING_BYTES = "OTEL_EXPORTER_TRACE_ETL_RING_BYTES"
DICTIONARY_BYTES = "OTEL_EXPORTER_TRACE_ETL_DICTIONARY_BYTES"

DEFAULT_DIRECTORY = "/dev/shm/trace-etl"
LOOK_AGAIN_SECONDS = 30


class Outlet:
    """Owns the process's ring. Each provider has one. Thread-safe.

    The ring is created when the first span ends, so a process without spans leaves no file. If that
    fails, spans go to OTLP if such an exporter is installed, else they are dropped. Every 30 s the
    next span looks for the agent's directory again.
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
            raise ValueError(
                f"{DICTIONARY_BYTES} = {self._dictionary_bytes} must be a multiple of 4096"
            )
        self._fallback = fallback
        self._fallback_made = fallback is not None
        self._clock = clock
        self._next_look = 0.0
        self._looked = False
        self._shut_down = False
        # The application's code may run while the lock is held (a finalizer, a signal handler, an
        # exporter that is loaded) and end a span. That call enters again, and _busy refuses it.
        self._lock = threading.RLock()
        self._busy = False
        self.writer: Writer | None = None
        # Receives each new writer, and None. For a provider that calls the writer itself.
        self.on_writer: Callable[[Writer | None], None] = lambda writer: None
        itself = weakref.ref(self)

        def in_child() -> None:
            outlet = itself()
            if outlet is not None:
                outlet._in_forked_child()

        os.register_at_fork(after_in_child=in_child)

    def find_writer(self) -> Writer | None:
        """Returns the ring's writer, creating it if a look is due; None if there is no agent."""
        writer = self.writer
        if writer is not None and writer.usable:
            return writer
        if not self._is_time():
            return None
        said = None
        with self._lock:
            writer = self.writer
            if (writer is None or not writer.usable) and self._is_time() and not self._busy:
                self._busy = True
                try:
                    self._set_writer(None)
                    said = self._look()
                finally:
                    self._busy = False
                    # Set last, so that other threads wait for the ring meanwhile.
                    self._looked = True
                    self._next_look = self._clock() + LOOK_AGAIN_SECONDS
            writer = self.writer
        if said is not None:
            _logger.log(*said)  # not under the lock: a handler may wait for threads that end spans
        return writer

    def write_elsewhere(self, span: ReadableSpan, refused: Writer | None) -> None:
        """Accepts a span that was not written: there was no writer, or `refused` refused it."""
        if refused is not None and refused.usable:
            self._give_up(refused)
        writer = self.find_writer()
        if writer is None or not writer.write(span):
            self._otlp(span)

    def _give_up(self, writer: Writer) -> None:
        """Closes a writer whose file was removed."""
        with self._lock:
            if self.writer is writer:
                self._set_writer(None)
                self._looked = False
        writer.close()

    def _otlp(self, span: ReadableSpan) -> None:
        if self._shut_down:
            return
        if not self._fallback_made:
            with self._lock:
                if not self._fallback_made and not self._busy:
                    self._busy = True
                    try:
                        self._fallback = _otlp_processor()
                        self._fallback_made = True
                    finally:
                        self._busy = False
        if self._fallback is not None:
            self._fallback.on_end(span)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._fallback is None or self._fallback.force_flush(timeout_millis)

    def shutdown(self) -> None:
        """Closes the ring, which the agent then reads and removes. Later spans are dropped."""
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

    def _look(self) -> tuple | None:
        """Tries to create the ring; returns what to log, or None."""
        try:
            fd, path, header_bytes = _files.make(
                self._directory, self._resource(), self._dictionary_bytes, self._ring_bytes
            )
        except OSError as error:
            if self._looked:
                return None
            return (
                logging.INFO,
                "Could not create a ring in %s (%s); spans go to OTLP. Retrying every %d s.",
                self._directory,
                error,
                LOOK_AGAIN_SECONDS,
            )
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
            return logging.WARNING, "Could not map the ring %s (%s); spans go to OTLP.", path, error
        writer.wake()
        self._set_writer(writer)
        return logging.INFO, "Spans go to the ring %s.", path

    def _set_writer(self, writer: Writer | None) -> None:
        self.writer = writer
        self.on_writer(writer)

    def _in_forked_child(self) -> None:
        """Closes the parent's ring in this process; the parent keeps its lock."""
        self._lock = threading.RLock()
        self._busy = False
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
                _logger.exception("Could not load the OTLP exporter %s.", name)
    _logger.warning(
        "Neither an agent nor an OTLP exporter is available: spans are dropped until an agent "
        "starts. Install opentelemetry-exporter-otlp-proto-http to send them by OTLP."
    )
    return None


def _size(key: str, given: int | None, default: int, least: int, most: int) -> int:
    text = os.environ.get(key, "")
    try:
        size = given if given is not None else int(text) if text else default
    except ValueError:
        raise ValueError(f"{key} = {text} must be a whole number of bytes") from None
    if not least <= size <= most:
        raise ValueError(f"{key} = {size} must be from {least} to {most} bytes")
    return size
