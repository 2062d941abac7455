"""The exporter for OpenTelemetry's SDK: a processor that writes each span when it ends."""

from collections.abc import Mapping, Sequence

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider, export

from ._outlet import Outlet, Writer


class RingSpanProcessor(SpanProcessor):
    """Writes each sampled span into the ring within end(): nothing is queued.

    The ring's resource is the provider's; without one, that of the first span that ends.
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
    """What OTEL_TRACES_EXPORTER=trace-etl names.

    The SDK puts every exporter behind a BatchSpanProcessor, whose queue dies with the process. It
    has made its provider the global one by then, so the exporter adds a processor to that which
    puts a RingSpanProcessor into the other's place. Under a provider where that cannot be done,
    the exporter writes the batches that it is given.
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
    """When the provider's first span starts, removes itself and the processor around the exporter.

    Where the exporter belongs to another provider, it only removes itself; where the SDK keeps its
    processors in another way, it stays and does nothing.
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
