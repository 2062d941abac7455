"""Exports spans of OpenTelemetry's SDK by a processor that writes each span when it ends."""

from collections.abc import Mapping, Sequence

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider, export

from ._outlet import Outlet, Writer


class RingSpanProcessor(SpanProcessor):
    """Writes each sampled span into the ring within end(); nothing is queued.

    The ring's resource is the provider's, or that of the first ended span if there is no provider.
    """

    def __init__(
        self, provider: TracerProvider | None = None, outlet: Outlet | None = None
    ) -> None:
        self._provider = provider
        self._first: ReadableSpan | None = None
        self._outlet = outlet if outlet is not None else Outlet(self._resource)

    def on_end(self, span: ReadableSpan) -> None:
        writer = self._outlet.writer
        if writer is None or not writer.write(span):
            self._elsewhere(span, writer)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._outlet.force_flush(timeout_millis)

    def shutdown(self) -> None:
        self._outlet.shutdown()

    def _elsewhere(self, span: ReadableSpan, refused: Writer | None) -> None:
        context = span.context
        if context is None or not context.trace_flags.sampled:
            return
        if self._first is None:
            self._first = span
        self._outlet.write_elsewhere(span, refused)

    def _resource(self) -> Mapping[str, object]:
        if self._provider is not None:
            return self._provider.resource.attributes
        return self._first.resource.attributes if self._first is not None else {}


class SpanExporter(export.SpanExporter):
    """The exporter that OTEL_TRACES_EXPORTER=trace-etl selects.

    The SDK puts every exporter behind a BatchSpanProcessor, whose queue is lost with the process.
    The SDK has set its global provider by then. So the exporter adds a processor to that provider
    which replaces the BatchSpanProcessor by a RingSpanProcessor. If the provider does not allow
    this, the exporter writes the batches that it receives.
    """

    def __init__(self) -> None:
        self._processor = RingSpanProcessor()
        self._replaced = False
        provider = trace.get_tracer_provider()
        if isinstance(provider, TracerProvider):
            provider.add_span_processor(_Replacing(provider, self))

    def export(self, spans: Sequence[ReadableSpan]) -> export.SpanExportResult:
        for span in spans:
            self._processor.on_end(span)
        return export.SpanExportResult.SUCCESS

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._processor.force_flush(timeout_millis)

    def shutdown(self) -> None:
        if not self._replaced:
            self._processor.shutdown()


class _Replacing(SpanProcessor):
    """Replaces the processor around the exporter when the provider's first span starts.

    It then removes itself. If the exporter belongs to another provider, it only removes itself. If
    an SDK stores its processors differently, it stays and does nothing.
    """

    def __init__(self, provider: TracerProvider, exporter: SpanExporter) -> None:
        self._provider = provider
        self._exporter = exporter

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        active = getattr(self._provider, "_active_span_processor", None)
        lock = getattr(active, "_lock", None)
        if lock is None or not isinstance(getattr(active, "_span_processors", None), tuple):
            return
        batching = None
        with lock:
            kept = []
            for processor in active._span_processors:
                if getattr(processor, "span_exporter", None) is self._exporter:
                    batching = processor
                    kept.append(self._exporter._processor)
                elif processor is not self:
                    kept.append(processor)
            if batching is not None:
                self._exporter._processor._provider = self._provider
                self._exporter._replaced = True
            active._span_processors = tuple(kept)
        if batching is not None:
            batching.shutdown()
