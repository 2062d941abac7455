"""Answers each request with a price, after a call of another host and a query of a database.

Usage: price_service.py PORT RATES-URL

Requests of /no-table query a table that does not exist, and are answered with status 500. The call
has the same path. Uses OpenTelemetry's SDK and instrumentations, configured by the environment.
"""

import sqlite3
import sys
from wsgiref.simple_server import make_server

import requests
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation import dbapi
from opentelemetry.instrumentation.requests import RequestsInstrumentor
from opentelemetry.instrumentation.wsgi import OpenTelemetryMiddleware
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


def service(database, rates_url):
    def answer(environ, start_response):
        path = environ["PATH_INFO"]
        # Its status has no effect.
        requests.get(rates_url + path, timeout=30)
        table = "absent" if path == "/no-table" else "price"
        cursor = database.cursor()
        try:
            cursor.execute(f"SELECT euros FROM {table}")
            status, body = "200 OK", str(cursor.fetchone()[0])
        except sqlite3.OperationalError as e:
            status, body = "500 Internal Server Error", str(e)
        start_response(status, [("Content-Type", "text/plain")])
        return [body.encode()]

    return answer


def main():
    port, rates_url = sys.argv[1:]
    database = sqlite3.connect(":memory:")
    database.executescript("CREATE TABLE price (euros); INSERT INTO price VALUES (7)")

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    RequestsInstrumentor().instrument()
    # What the instrumentation of sqlite3 does for each connection.
    database = dbapi.instrument_connection(__name__, database, "sqlite", {})

    answer = OpenTelemetryMiddleware(service(database, rates_url))
    make_server("127.0.0.1", int(port), answer).serve_forever()


main()
