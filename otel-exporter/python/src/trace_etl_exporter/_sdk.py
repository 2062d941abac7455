"""The exporter for OpenTelemetry's SDK: a processor that writes each span when it ends."""

from collections.abc import Mapping, Sequence

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider, export

from ._outlet import Outlet


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
            self._elsewhere(span)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._outlet.force_flush(timeout_millis)

    def shutdown(self) -> None:
        self._outlet.shutdown()

    def _elsewhere(self, span: ReadableSpan) -> None:
        context = span.context
        if context is None or not context.trace_flags.sampled:
            return
        if self._first is None:
            self._first = span
        gone = self._outlet.writer
        if gone is not None and gone.usable:
            self._outlet.give_up(gone)
        writer = self._outlet.find_writer()
        if writer is None or not writer.write(span):
            self._outlet.otlp(span)

    def _resource(self) -> Mapping[str, object]:
        if self._provider is not None:
            return self._provider.resource.attributes
        return self._first.resource.attributes if self._first is not None else {}


class SpanExporter(export.SpanExporter):
    """What OTEL_TRACES_EXPORTER=trace-etl names.

    The SDK puts every exporter behind a BatchSpanProcessor, whose queue dies with the process. So
    the exporter adds a RingSpanProcessor to the provider that is being set up, which the SDK has
    made the global one by then, and what comes to itself is there already. Under a provider that
    it does not get to see it writes the batches that it is given.
    """

    def __init__(self) -> None:
        provider = trace.get_tracer_provider()
        self._beside = isinstance(provider, TracerProvider)
        if self._beside:
            self._processor = _InPlaceOfBatches(provider, self)
            provider.add_span_processor(self._processor)
        else:
            self._processor = RingSpanProcessor()

    def export(self, spans: Sequence[ReadableSpan]) -> export.SpanExportResult:
        if not self._beside:
            for span in spans:
                self._processor.on_end(span)
        return export.SpanExportResult.SUCCESS

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._processor.force_flush(timeout_millis)

    def shutdown(self) -> None:
        if not self._beside:
            self._processor.shutdown()


class _InPlaceOfBatches(RingSpanProcessor):
    """Takes the processor around its exporter out of the provider when the first span starts.

    It would queue spans and wake a thread for nothing. An SDK whose list of processors is another
    one keeps it, which costs but harms nothing.
    """

    def __init__(self, provider: TracerProvider, exporter: SpanExporter) -> None:
        super().__init__(provider)
        self._exporter: SpanExporter | None = exporter

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        if self._exporter is not None:
            exporter, self._exporter = self._exporter, None
            self._take_out(exporter)

    def _take_out(self, exporter: SpanExporter) -> None:
        processors = getattr(self._provider, "_active_span_processor", None)
        for processor in getattr(processors, "_span_processors", ()):
            if getattr(processor, "span_exporter", None) is exporter:
                with processors._lock:
                    processors._span_processors = tuple(
                        other for other in processors._span_processors if other is not processor
                    )
                processor.shutdown()
