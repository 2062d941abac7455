"""A URL shortener with three spans a request, like the one in Java.

Usage: shortener.py untraced|otlp|ring|own-ring < requests

`POST /links` with a URL as body returns a code, `GET /CODE` redirects. For a line `calls N` of the
standard input it handles N requests without HTTP and prints their wall and CPU time (nanoseconds).
For `served` it prints the number of requests over HTTP.
"""

import sys
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CODES = 100


class Links:
    def __init__(self):
        self.urls = {}
        self.followed = {}

    def encode(self, url):
        return format(zlib.crc32(url.encode()), "x")

    def store(self, code, url):
        self.urls[code] = url

    def find(self, code):
        return self.urls.get(code)

    def count(self, code):
        self.followed[code] = self.followed.get(code, 0) + 1


class TracedLinks:
    """Creates a span for each step."""

    def __init__(self, links, tracer):
        from opentelemetry.trace import SpanKind

        self.links = links
        self.tracer = tracer
        self.client = SpanKind.CLIENT

    def encode(self, url):
        with self.tracer.start_as_current_span("encode") as span:
            code = self.links.encode(url)
            span.set_attribute("link.code", code)
            return code

    def store(self, code, url):
        with self.database("INSERT", "INSERT INTO links (code, url) VALUES (?, ?)"):
            self.links.store(code, url)

    def find(self, code):
        with self.database("SELECT", "SELECT url FROM links WHERE code = ?"):
            return self.links.find(code)

    def count(self, code):
        with self.tracer.start_as_current_span("count", attributes={"link.code": code}):
            self.links.count(code)

    def database(self, operation, query):
        return self.tracer.start_as_current_span(
            operation + " links",
            kind=self.client,
            attributes={
                "db.system.name": "postgresql",
                "db.operation.name": operation,
                "db.query.text": query,
            },
        )


class Shortener:
    def __init__(self, links):
        self.links = links

    def handle(self, method, path, body):
        if method == "POST":
            code = self.links.encode(body)
            self.links.store(code, body)
            return 201, code
        code = path[1:]
        url = self.links.find(code)
        self.links.count(code)
        return (404, "no such link") if url is None else (302, url)


class TracedShortener(Shortener):
    def __init__(self, links, tracer):
        from opentelemetry.trace import SpanKind

        super().__init__(TracedLinks(links, tracer))
        self.tracer = tracer
        self.server = SpanKind.SERVER

    def handle(self, method, path, body):
        route = "/links" if method == "POST" else "/{code}"
        with self.tracer.start_as_current_span(
            f"{method} {route}",
            kind=self.server,
            attributes={"http.request.method": method, "http.route": route, "url.path": path},
        ) as span:
            answer = super().handle(method, path, body)
            span.set_attribute("http.response.status_code", answer[0])
            return answer


class Served:
    """Handles requests over HTTP."""

    def __init__(self):
        self.lock = threading.Lock()
        self.requests = 0

    def add(self):
        with self.lock:
            self.requests += 1


def server(shortener, served):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Sends head and body of an answer in one packet.
        wbufsize = -1
        disable_nagle_algorithm = True

        def answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            status, text = shortener.handle(self.command, self.path, body)
            served.add()
            content = text.encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", text)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = answer
        do_POST = answer

        def log_message(self, *arguments):
            pass

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def calls(shortener, count, flush):
    paths = [
        "/" + shortener.handle("POST", "/links", f"https://example.com/page/{number}")[1]
        for number in range(CODES)
    ]
    flush()
    cpu = time.process_time_ns()
    wall = time.perf_counter_ns()
    for number in range(count):
        shortener.handle("GET", paths[number % CODES], "")
    wall = time.perf_counter_ns() - wall
    flush()
    cpu = time.process_time_ns() - cpu
    return f"wall={wall} cpu={cpu} requests={CODES + count}"


def provider(kind):
    if kind == "own-ring":
        from trace_etl_exporter import TracerProvider

        return TracerProvider()
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

    made = TracerProvider(resource=Resource.create())
    if kind == "otlp":
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    elif kind == "ring":
        from trace_etl_exporter import RingSpanProcessor

        made.add_span_processor(RingSpanProcessor(made))
    else:
        raise SystemExit(f"{kind}: must be untraced, otlp, ring or own-ring")
    return made


def main():
    kind = sys.argv[1]
    if kind == "untraced":
        shortener, flush = Shortener(Links()), lambda: None
    else:
        traced = provider(kind)
        shortener = TracedShortener(Links(), traced.get_tracer("shortener"))
        flush = traced.force_flush
    served = Served()
    http = server(shortener, served)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    print(f"port={http.server_port}", flush=True)
    for line in sys.stdin:
        if line.startswith("calls"):
            print(calls(shortener, int(line.split()[1]), flush), flush=True)
        else:
            print(f"served={served.requests}", flush=True)


main()
