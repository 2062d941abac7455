"""Rounds of 23 spans around statements of an in-memory sqlite, traced or not.

Usage: rounds.py untraced|sdk-otlp|sdk-ring|own-ring|events PROBABILITY < requests

For each line `rounds N` of the standard input it prints the wall and CPU time (nanoseconds) of N
rounds, flush included, and the number of expected spans. A round is a span and 22 statements, for
which opentelemetry-instrumentation-sqlite3 creates spans. With `events` they are events of the
round's span.
"""

import gc
import sqlite3
import sys
import time

STATEMENTS = 22
INSERT = "INSERT INTO orders (customer, cents) VALUES (?, ?)"
SELECT = "SELECT customer, cents FROM orders WHERE customer = ?"


def sampler(probability):
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

    return ParentBased(TraceIdRatioBased(probability))


def sdk(probability):
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

    return TracerProvider(
        sampler=sampler(probability), resource=Resource.create({"service.name": "sqlite"})
    )


def otlp(probability):
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = sdk(probability)
    # Holds all spans of a run: the SDK's default queue of 2,048 would drop most of them.
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), max_queue_size=100_000))
    return provider


def ring(probability):
    from trace_etl_exporter import RingSpanProcessor

    provider = sdk(probability)
    provider.add_span_processor(RingSpanProcessor(provider))
    return provider


def own(probability):
    """Uses the provider that writes spans itself, without the SDK."""
    from opentelemetry.sdk.resources import Resource
    from trace_etl_exporter import TracerProvider

    return TracerProvider(
        sampler=sampler(probability), resource=Resource.create({"service.name": "sqlite"})
    )


class Untraced:
    def connect(self):
        return sqlite3.connect(":memory:")

    def round(self, connection):
        statements(connection.cursor())
        return 0

    def flush(self):
        pass


class Traced(Untraced):
    """Creates spans by the instrumentation library."""

    def __init__(self, provider):
        from opentelemetry.instrumentation.sqlite3 import SQLite3Instrumentor

        self.provider = provider
        self.tracer = provider.get_tracer("rounds")
        SQLite3Instrumentor().instrument(tracer_provider=provider)

    def round(self, connection):
        with self.tracer.start_as_current_span("round") as span:
            statements(connection.cursor())
            return STATEMENTS + 1 if span.is_recording() else 0

    def flush(self):
        self.provider.force_flush()


class Events(Untraced):
    """Creates a span for the round with an event for each statement."""

    def __init__(self, provider):
        self.provider = provider
        self.tracer = provider.get_tracer("rounds")

    def round(self, connection):
        with self.tracer.start_as_current_span("round") as span:
            statements_with_events(connection.cursor(), span.add_event)
            return 1

    def flush(self):
        self.provider.force_flush()


def statements(cursor):
    cursor.execute("CREATE TABLE orders (customer INTEGER, cents INTEGER)")
    for number in range(10):
        cursor.execute(INSERT, (number, number * 100))
    for number in range(10):
        cursor.execute(SELECT, (number,))
        cursor.fetchall()
    cursor.execute("DROP TABLE orders")


def statements_with_events(cursor, add_event):
    cursor.execute("CREATE TABLE orders (customer INTEGER, cents INTEGER)")
    add_event("CREATE orders")
    for number in range(10):
        cursor.execute(INSERT, (number, number * 100))
        add_event("INSERT orders")
    for number in range(10):
        cursor.execute(SELECT, (number,))
        add_event("SELECT orders")
        cursor.fetchall()
    cursor.execute("DROP TABLE orders")
    add_event("DROP orders")


def main():
    kind, probability = sys.argv[1], float(sys.argv[2])
    if kind == "untraced":
        work = Untraced()
    elif kind == "sdk-otlp":
        work = Traced(otlp(probability))
    elif kind == "sdk-ring":
        work = Traced(ring(probability))
    elif kind == "own-ring":
        work = Traced(own(probability))
    elif kind == "events":
        work = Events(own(probability))
    else:
        raise SystemExit(f"{kind}: must be untraced, sdk-otlp, sdk-ring, own-ring or events")
    connection = work.connect()
    print("ready=1", flush=True)
    for line in sys.stdin:
        rounds = int(line.split()[1])
        gc.collect()
        spans = 0
        cpu = time.process_time_ns()
        wall = time.perf_counter_ns()
        for _ in range(rounds):
            spans += work.round(connection)
        work.flush()
        wall = time.perf_counter_ns() - wall
        cpu = time.process_time_ns() - cpu
        print(f"wall={wall} cpu={cpu} spans={spans}", flush=True)


main()
