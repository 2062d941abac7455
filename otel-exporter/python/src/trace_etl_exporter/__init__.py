"""Sends OpenTelemetry spans through shared memory to the trace-etl agent of the host."""

from ._outlet import Outlet
from ._provider import TracerProvider
from ._sdk import RingSpanProcessor, SpanExporter

__all__ = ["Outlet", "RingSpanProcessor", "SpanExporter", "TracerProvider"]
