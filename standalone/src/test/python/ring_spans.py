"""An application that writes its spans into a ring.

Usage: ring_spans.py expected < series.json
       ring_spans.py endless FILE

The environment says the rest. `expected` writes the spans that the standard input describes, and
ends. `endless` makes spans until it is killed, and counts those that have ended in a file that
outlives it.
"""

import json
import mmap
import struct
import sys
import time

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import SpanKind, Status, StatusCode
from trace_etl_exporter import RingSpanProcessor


def expected(tracer):
    for series in json.load(sys.stdin):
        for duration_nanos in series["durationsNanos"]:
            end = time.time_ns()
            span = tracer.start_span(
                series["name"], kind=SpanKind[series["kind"]], start_time=end - duration_nanos
            )
            if series["status"] != "UNSET":
                span.set_status(Status(StatusCode[series["status"]]))
            span.end(end_time=end)


def endless(tracer, path):
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as ended:
        count = 0
        while True:
            tracer.start_span("work", kind=SpanKind.SERVER).end()
            count += 1
            struct.pack_into("<q", ended, 0, count)
            if count % 4 == 0:
                # Not faster than a busy machine reads.
                time.sleep(0.001)


def main():
    provider = TracerProvider(resource=Resource.create())
    provider.add_span_processor(RingSpanProcessor(provider))
    tracer = provider.get_tracer("ring")
    if sys.argv[1] == "expected":
        expected(tracer)
        provider.shutdown()
    else:
        endless(tracer, sys.argv[2])


main()
