"""Passes batches of ended spans to an exporter, one after another.

Usage: batch.py otlp-http|otlp-grpc|ring < requests

For each line `batches N` of the standard input it prints the wall and CPU time (nanoseconds) of N
batches, without the time to create the spans.
"""

import sys
import time

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.trace import SpanKind

SPANS = 512


def otlp(exporter):
    return lambda batch: exporter.export(batch) is SpanExportResult.SUCCESS


def ring(provider):
    from trace_etl_exporter import RingSpanProcessor

    processor = RingSpanProcessor(provider)

    def export(batch):
        # Span by span, as a provider does.
        for span in batch:
            processor.on_end(span)
        return True

    return export


def exporting(name, provider):
    """Returns a function that exports a batch and returns whether it succeeded."""
    if name == "otlp-http":
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return otlp(OTLPSpanExporter())
    if name == "otlp-grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

        return otlp(OTLPSpanExporter(insecure=True))
    if name == "ring":
        return ring(provider)
    raise SystemExit(f"{name}: must be otlp-http, otlp-grpc or ring")


class Collecting(SpanProcessor):
    """Keeps ended spans."""

    def __init__(self):
        self.ended = []

    def on_end(self, span):
        self.ended.append(span)


class Batches:
    def __init__(self):
        self.collecting = Collecting()
        self.provider = TracerProvider(resource=Resource.create({"service.name": "batch-python"}))
        self.provider.add_span_processor(self.collecting)
        self.tracer = self.provider.get_tracer("batch")
        self.number = 0

    def next(self):
        self.collecting.ended = []
        for _ in range(SPANS):
            self.number += 1
            route = f"/api/v1/resource-{self.number % 20}/{{id}}"
            span = self.tracer.start_span(
                "GET " + route,
                kind=SpanKind.SERVER,
                attributes={
                    "http.request.method": "GET",
                    "http.route": route,
                    "url.path": route.replace("{id}", str(self.number)),
                    "url.scheme": "https",
                    "server.address": "shop.example.com",
                    "server.port": 443,
                    "http.response.status_code": 500 if self.number % 50 == 0 else 200,
                    "user_agent.original": "Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0",
                },
            )
            span.end()
        return self.collecting.ended


def main():
    batches = Batches()
    export = exporting(sys.argv[1], batches.provider)
    print("ready=1", flush=True)
    for line in sys.stdin:
        count = int(line.split()[1])
        wall = cpu = failed = 0
        for _ in range(count):
            # The spans are created before the measured time starts.
            batch = batches.next()
            cpu_before = time.process_time_ns()
            start = time.perf_counter_ns()
            if not export(batch):
                failed += 1
            wall += time.perf_counter_ns() - start
            cpu += time.process_time_ns() - cpu_before
        print(f"wall={wall} cpu={cpu} spans={count * SPANS} failed={failed}", flush=True)


main()
