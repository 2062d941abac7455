"""Writes spans into a ring, as an application does.

Usage: ring_spans.py sdk|own expected < series.json
       ring_spans.py sdk|own endless FILE

Uses OpenTelemetry's SDK, or the provider that writes spans itself, configured by the environment.
`expected` writes the spans that the standard input describes, then ends. `endless` creates spans
until it is killed, and counts the ended spans in a file.
"""

import json
import mmap
import signal
import sys
import time

import trace_etl_exporter
from opentelemetry.sdk import trace as sdk_trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.trace import SpanKind, Status, StatusCode

TICK_SECONDS = 0.001


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
    signal.setitimer(signal.ITIMER_REAL, TICK_SECONDS, TICK_SECONDS)
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as ended:
        # One store of eight bytes, because SIGKILL may interrupt struct.pack_into after its zeros.
        counts = memoryview(ended).cast("q")
        count = 0
        while True:
            tracer.start_span("work", kind=SpanKind.SERVER).end()
            count += 1
            counts[0] = count
            if count % 4 == 0:
                # A fixed number of spans per tick, so that a busy machine can read them.
                signal.sigwait({signal.SIGALRM})


def sdk():
    provider = sdk_trace.TracerProvider(resource=Resource.create())
    provider.add_span_processor(trace_etl_exporter.RingSpanProcessor(provider))
    return provider


def main():
    # Before other threads start: a thread that does not block the signal would end the process.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    provider = sdk() if sys.argv[1] == "sdk" else trace_etl_exporter.TracerProvider()
    tracer = provider.get_tracer("ring")
    if sys.argv[2] == "expected":
        expected(tracer)
        provider.shutdown()
    else:
        endless(tracer, sys.argv[3])


main()
