"""Sends the spans that the standard input describes, with the OpenTelemetry SDK for Python.

Usage: send_spans.py grpc|http SERVICE PORT < series.json
"""

import json
import sys
import time

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.trace import SpanKind, Status, StatusCode


def exporter(protocol, port):
    if protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter(endpoint=f"http://127.0.0.1:{port}", insecure=True)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=f"http://127.0.0.1:{port}/v1/traces")


def main():
    protocol, service, port = sys.argv[1:]
    sender = exporter(protocol, port)
    outcomes = []
    exported = 0
    export = sender.export

    def watched(spans):
        nonlocal exported
        outcomes.append(export(spans))
        exported += len(spans)
        return outcomes[-1]

    sender.export = watched
    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    provider.add_span_processor(BatchSpanProcessor(sender, max_queue_size=20_000))
    tracer = provider.get_tracer("end-to-end")
    ended = 0
    for series in json.load(sys.stdin):
        for duration_nanos in series["durationsNanos"]:
            end = time.time_ns()
            span = tracer.start_span(
                series["name"], kind=SpanKind[series["kind"]], start_time=end - duration_nanos
            )
            if series["status"] != "UNSET":
                span.set_status(Status(StatusCode[series["status"]]))
            span.end(end_time=end)
            ended += 1
    provider.force_flush(60_000)
    provider.shutdown()
    if exported != ended or any(outcome != SpanExportResult.SUCCESS for outcome in outcomes):
        sys.exit(f"{exported} of {ended} spans were exported; exports ended {outcomes}")


main()
