"""Measures what tracing costs a Python process: the CPU of 1,000 rounds of 23 spans.

Usage: python cost.py [REPETITIONS]

The spans are those of opentelemetry-instrumentation-sqlite3 and one around each round. Each
repetition runs each variant in its own process. The figure is the CPU of this process within the
rounds, after all spans are sent. OTLP goes to a server on this host that discards it.
"""

import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 1000
WAYS = (
    "untraced",
    "API without SDK",
    "SDK at sampling 0",
    "ours at sampling 0",
    "ours",
    "SDK + ring",
    "SDK + OTLP",
)
SERVER = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *arguments):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


def provider_of(way):
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider, sampling
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    import trace_etl_exporter as ours

    if way == "API without SDK":
        return trace.NoOpTracerProvider()
    if way.endswith("at sampling 0"):
        kind = TracerProvider if way.startswith("SDK") else ours.TracerProvider
        return kind(sampling.ParentBased(sampling.ALWAYS_OFF))
    if way == "ours":
        return ours.TracerProvider()
    provider = TracerProvider()
    if way == "SDK + ring":
        provider.add_span_processor(ours.RingSpanProcessor(provider))
    else:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        exporter = OTLPSpanExporter(os.environ["COST_ENDPOINT"])
        provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=24 * ROUNDS))
    return provider


def statements(cursor):
    cursor.execute("CREATE TABLE cart (id INTEGER PRIMARY KEY, item TEXT)")
    for number in range(10):
        cursor.execute("INSERT INTO cart (item) VALUES (?)", (f"item {number}",))
    for number in range(10):
        cursor.execute("SELECT item FROM cart WHERE id = ?", (number,)).fetchall()
    cursor.execute("DROP TABLE cart")


def measure(way):
    connection = sqlite3.connect(":memory:")
    if way == "untraced":
        cursor = connection.cursor()
        started = time.process_time()
        for _ in range(ROUNDS):
            statements(cursor)
        return time.process_time() - started
    from opentelemetry.instrumentation.sqlite3 import SQLite3Instrumentor

    provider = provider_of(way)
    cursor = SQLite3Instrumentor().instrument_connection(connection, provider).cursor()
    tracer = provider.get_tracer("cost")
    started = time.process_time()
    for _ in range(ROUNDS):
        with tracer.start_as_current_span("round"):
            statements(cursor)
    if way == "SDK + OTLP":
        provider.force_flush()
    return time.process_time() - started


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    found = {way: [] for way in WAYS}
    try:
        endpoint = f"http://127.0.0.1:{int(server.stdout.readline())}/v1/traces"
        with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
            environment = os.environ | {
                "COST_ENDPOINT": endpoint,
                "OTEL_EXPORTER_TRACE_ETL_DIRECTORY": directory,
                "OTEL_EXPORTER_TRACE_ETL_RING_BYTES": str(16 << 20),
            }
            for _ in range(repetitions):
                for way in WAYS:
                    command = [sys.executable, __file__, "--way", way]
                    out = subprocess.check_output(command, env=environment, text=True)
                    found[way].append(float(out))
                    for ring in os.listdir(directory):
                        os.unlink(os.path.join(directory, ring))
    finally:
        server.terminate()
        server.wait()
    untraced = statistics.median(found["untraced"])
    print("| | CPU, s | per span, µs |\n|---|---|---|")
    for way in WAYS:
        median = statistics.median(found[way])
        print(f"| {way} | {median:.3f} | {(median - untraced) / ROUNDS / 23 * 1e6:.1f} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--way"]:
        print(measure(sys.argv[2]))
    else:
        main()
