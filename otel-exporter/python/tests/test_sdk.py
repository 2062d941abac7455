"""Tests the exporter with OpenTelemetry's SDK."""

import logging
import os
import signal
import sqlite3
import subprocess
import sys
import threading

import pytest
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from reader import only_ring, rings

import trace_etl_exporter
from trace_etl_exporter import Outlet, RingSpanProcessor, _outlet


class Collecting(SpanProcessor):
    def __init__(self):
        self.names = []

    def on_end(self, span):
        self.names.append(span.name)


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture(params=["extension", "python"])
def writer(request, monkeypatch):
    if request.param == "python":
        monkeypatch.setattr(_outlet, "Writer", _outlet_pure())


def _outlet_pure():
    from trace_etl_exporter import _pure

    return _pure.Writer


@pytest.fixture
def new_provider(directory):
    providers = []

    def new(sampler=None, **more):
        provider = TracerProvider(sampler, Resource({"service.name": "shop"}))
        outlet = Outlet(lambda: provider.resource.attributes, str(directory), 1 << 20, **more)
        provider.add_span_processor(RingSpanProcessor(provider, outlet))
        providers.append(provider)
        return provider

    yield new
    for provider in providers:
        provider.shutdown()


def run(script, directory, **environment):
    return subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"OTEL_EXPORTER_TRACE_ETL_DIRECTORY": str(directory)} | environment,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_span_is_in_the_ring_when_it_ends(new_provider, directory, writer, wake):
    tracer = new_provider().get_tracer("test")
    assert rings(directory) == []
    with tracer.start_as_current_span("outer", attributes={"a": (1, 2)}):
        with tracer.start_as_current_span("inner") as inner:
            inner.add_event("happened", {"n": 1})
        ring = only_ring(directory)
        assert os.read(wake, 1) == b"\0", "the agent hears of a new ring"
        assert ring.resource == {"service.name": "shop"}
        assert [span.name for span in ring.spans()] == ["inner"]
    inner, outer = ring.spans()
    assert inner.parent_id == outer.span_id and inner.trace_id == outer.trace_id
    assert [(name, attributes) for name, _, attributes in inner.events] == [
        ("happened", [("n", 1)])
    ]


def test_what_is_not_sampled_makes_no_ring(new_provider, directory, writer):
    tracer = new_provider(ALWAYS_OFF).get_tracer("test")
    with tracer.start_as_current_span("span"):
        pass
    assert rings(directory) == []


def test_shutting_down_leaves_the_ring_to_the_agent(new_provider, directory, writer):
    provider = new_provider()
    tracer = provider.get_tracer("test")
    tracer.start_span("before").end()
    assert only_ring(directory).has_writer
    provider.shutdown()
    tracer.start_span("after").end()
    ring = only_ring(directory)
    assert not ring.has_writer
    assert [span.name for span in ring.spans()] == ["before"]


def test_without_an_agent_spans_go_elsewhere_until_there_is_one(new_provider, directory, writer):
    other = Collecting()
    clock = Clock()
    directory.rmdir()
    tracer = new_provider(fallback=other, clock=clock).get_tracer("test")
    tracer.start_span("first").end()
    directory.mkdir()
    clock.now += 29
    tracer.start_span("second").end()
    assert other.names == ["first", "second"]
    clock.now += 1
    tracer.start_span("third").end()
    assert other.names == ["first", "second"]
    assert [span.name for span in only_ring(directory).spans()] == ["third"]


def test_a_directory_that_is_closed_to_us_is_none(new_provider, directory, writer):
    other = Collecting()
    (directory / "file").write_text("")
    provider = TracerProvider()
    outlet = Outlet(dict, str(directory / "file"), fallback=other)
    provider.add_span_processor(RingSpanProcessor(provider, outlet))
    provider.get_tracer("test").start_span("span").end()
    assert other.names == ["span"]
    provider.shutdown()


def test_a_ring_that_was_removed_is_replaced(new_provider, directory, writer):
    tracer = new_provider().get_tracer("test")
    tracer.start_span("first").end()
    only_ring(directory).path.unlink()
    written = 0
    while not rings(directory):
        tracer.start_span("x" * 100).end()
        written += 1
        assert written < 100_000
    assert [span.name for span in only_ring(directory).spans()] == ["x" * 100]


def test_threads_that_meet_at_the_first_span_share_a_ring(directory, writer):
    others = 3
    waiting = threading.Semaphore(0)
    going = threading.Event()

    def resource():
        going.wait()
        return {}

    class Slow(Outlet):
        def find_writer(self):
            waiting.release()
            return super().find_writer()

    other = Collecting()
    provider = TracerProvider()
    outlet = Slow(resource, str(directory), fallback=other)
    provider.add_span_processor(RingSpanProcessor(provider, outlet))
    tracer = provider.get_tracer("test")
    threads = [threading.Thread(target=tracer.start_span("a").end) for _ in range(others)]
    for thread in threads:
        thread.start()
    for _ in threads:
        waiting.acquire()
    going.set()
    for thread in threads:
        thread.join()
    assert len(only_ring(directory).spans()) == others
    assert only_ring(directory).has_writer and other.names == []
    provider.shutdown()


def test_a_late_refusal_does_not_close_the_ring_of_others(directory, writer):
    outlet = Outlet(dict, str(directory))
    provider = TracerProvider()
    provider.add_span_processor(RingSpanProcessor(provider, outlet))
    tracer = provider.get_tracer("test")
    tracer.start_span("first").end()
    # Like a thread that saw no writer before the first span created it.
    outlet.write_elsewhere(tracer.start_span("second")._readable_span(), None)
    tracer.start_span("third").end()
    assert [span.name for span in only_ring(directory).spans()] == ["first", "second", "third"]
    provider.shutdown()


def test_a_log_handler_may_end_spans(new_provider, directory, writer):
    tracer = new_provider().get_tracer("test")

    class Tracing(logging.Handler):
        def emit(self, record):
            thread = threading.Thread(target=tracer.start_span("logged").end)
            thread.start()
            thread.join()
            tracer.start_span("logged here").end()

    handler = Tracing()
    log = logging.getLogger("trace_etl_exporter")
    log.addHandler(handler)
    level = log.level
    log.setLevel(logging.INFO)
    try:
        tracer.start_span("span").end()
    finally:
        log.setLevel(level)
        log.removeHandler(handler)
    names = {span.name for span in only_ring(directory).spans()}
    assert names == {"span", "logged", "logged here"}


def test_a_value_may_end_spans_while_it_is_written(new_provider, directory, writer):
    tracer = new_provider().get_tracer("test")

    class Name:
        def __str__(self):
            tracer.start_span("within").end()
            return "name"

    for _ in range(2):
        tracer.start_span(Name()).end()
    ring = only_ring(directory)
    names = [span.name for span in ring.spans()]
    assert names.count("name") == 2
    assert names.count("within") + ring.dropped_full == 2


def test_an_interrupt_is_not_swallowed(new_provider, directory, writer):
    tracer = new_provider().get_tracer("test")

    class Interrupting:
        def __str__(self):
            raise KeyboardInterrupt

    class Failing:
        def __str__(self):
            raise ValueError

    tracer.start_span(Failing()).end()
    with pytest.raises(KeyboardInterrupt):
        tracer.start_span(Interrupting()).end()
    tracer.start_span("after").end()
    names = [span.name for span in only_ring(directory).spans()]
    assert (names[0], names[-1]) == ("", "after")


def test_a_child_has_a_ring_of_its_own(new_provider, directory, writer):
    tracer = new_provider().get_tracer("test")
    tracer.start_span("parent before").end()
    pid = os.fork()
    if pid == 0:
        tracer.start_span("child").end()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    tracer.start_span("parent after").end()
    by_pid = {ring.pid: ring for ring in rings(directory)}
    assert sorted(by_pid) == sorted([os.getpid(), pid])
    assert [span.name for span in by_pid[pid].spans()] == ["child"]
    assert not by_pid[pid].has_writer
    names = [span.name for span in by_pid[os.getpid()].spans()]
    assert names == ["parent before", "parent after"]
    assert by_pid[os.getpid()].has_writer


def test_threads(new_provider, directory, writer):
    tracer = new_provider().get_tracer("test")

    def work(thread):
        for number in range(200):
            with tracer.start_as_current_span(f"{thread}", attributes={"n": number}):
                pass

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spans = only_ring(directory).spans()
    assert {(span.name, dict(span.attributes)["n"]) for span in spans} == {
        (str(thread), number) for thread in range(4) for number in range(200)
    }
    assert len(spans) == 800


CONFIGURED = """
import os, threading
from opentelemetry import trace
from opentelemetry.sdk._configuration import _OTelSDKConfigurator
_OTelSDKConfigurator().configure()
tracer = trace.get_tracer("test")
for number in range(100):
    with tracer.start_as_current_span("GET /", attributes={"n": number}):
        pass
"""


def test_the_environment_selects_it_and_nothing_is_queued(directory):
    script = CONFIGURED + "print(*[t.name for t in threading.enumerate()], flush=True)\nos._exit(0)"
    out = run(script, directory, OTEL_TRACES_EXPORTER="trace-etl", OTEL_SERVICE_NAME="shop")
    ring = only_ring(directory)
    assert ring.resource["service.name"] == "shop"
    assert [dict(span.attributes)["n"] for span in ring.spans()] == list(range(100))
    assert out.stdout.split() == ["MainThread"]


def test_a_process_that_exits_by_itself(directory):
    out = run(CONFIGURED, directory, OTEL_TRACES_EXPORTER="trace-etl")
    ring = only_ring(directory)
    assert len(ring.spans()) == 100
    assert not ring.has_writer
    assert out.stderr == ""


def test_beside_another_exporter(directory):
    run(CONFIGURED, directory, OTEL_TRACES_EXPORTER="console,trace-etl")
    assert len(only_ring(directory).spans()) == 100


def test_behind_a_processor_that_it_cannot_see_it_writes_batches(directory, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_TRACE_ETL_DIRECTORY", str(directory))
    provider = TracerProvider(resource=Resource({"service.name": "shop"}))
    provider.add_span_processor(BatchSpanProcessor(trace_etl_exporter.SpanExporter()))
    provider.get_tracer("test").start_span("span").end()
    provider.force_flush()
    ring = only_ring(directory)
    assert [span.name for span in ring.spans()] == ["span"]
    assert ring.resource == {"service.name": "shop"}
    provider.shutdown()
    assert not only_ring(directory).has_writer


def test_an_instrumentation_library(new_provider, directory):
    from opentelemetry.instrumentation.sqlite3 import SQLite3Instrumentor

    instrumentor = SQLite3Instrumentor()
    connection = instrumentor.instrument_connection(sqlite3.connect(":memory:"), new_provider())
    connection.cursor().execute("SELECT 1")
    (span,) = only_ring(directory).spans()
    assert (span.name, span.kind) == ("SELECT", 3)
    assert ("db.statement", "SELECT 1") in span.attributes


ANOTHERS = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from trace_etl_exporter import SpanExporter
one, other = TracerProvider(), TracerProvider()
trace.set_tracer_provider(one)
other.add_span_processor(BatchSpanProcessor(SpanExporter()))
for number in range(3):
    one.get_tracer("test").start_span("one").end()
    other.get_tracer("test").start_span("other").end()
other.force_flush()
"""


def test_an_exporter_of_another_provider_than_the_global_one(directory):
    run(ANOTHERS, directory)
    assert [span.name for span in only_ring(directory).spans()] == ["other"] * 3


KILLED = """
import sys
from opentelemetry.sdk.trace import TracerProvider
from trace_etl_exporter import RingSpanProcessor
provider = TracerProvider()
provider.add_span_processor(RingSpanProcessor(provider))
tracer = provider.get_tracer("test")
number = 0
while True:
    with tracer.start_as_current_span("span", attributes={"n": number}):
        pass
    print(number, flush=True)
    number += 1
"""


def test_a_process_that_is_killed_loses_no_span_that_ended(directory):
    environment = os.environ | {"OTEL_EXPORTER_TRACE_ETL_DIRECTORY": str(directory)}
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED], env=environment, stdout=subprocess.PIPE, text=True
    )
    for line in process.stdout:
        if int(line) == 1000:
            process.send_signal(signal.SIGKILL)
            break
    printed = [1000, *(int(line) for line in process.stdout if line.endswith("\n"))]
    process.wait()
    process.stdout.close()
    ring = only_ring(directory)
    assert not ring.has_writer
    numbers = [dict(span.attributes)["n"] for span in ring.spans()]
    assert numbers == list(range(len(numbers)))
    assert numbers[-1] >= printed[-1]


def test_sizes_are_checked():
    with pytest.raises(ValueError, match="OTEL_EXPORTER_TRACE_ETL_RING_BYTES = 65537"):
        Outlet(dict, "/nowhere", ring_bytes=65537)
    with pytest.raises(ValueError, match="OTEL_EXPORTER_TRACE_ETL_DICTIONARY_BYTES = 1"):
        Outlet(dict, "/nowhere", dictionary_bytes=1)


def test_the_environment_sizes_it(directory, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_TRACE_ETL_RING_BYTES", "131072")
    monkeypatch.setenv("OTEL_EXPORTER_TRACE_ETL_DICTIONARY_BYTES", "8192")
    outlet = Outlet(dict, str(directory))
    assert outlet.find_writer() is not None
    ring = only_ring(directory)
    assert (ring.ring_bytes, ring.dictionary_bytes) == (131072, 8192)
    outlet.shutdown()
    monkeypatch.setenv("OTEL_EXPORTER_TRACE_ETL_RING_BYTES", "many")
    with pytest.raises(ValueError, match="OTEL_EXPORTER_TRACE_ETL_RING_BYTES = many"):
        Outlet(dict, str(directory))


def test_without_the_extension_the_log_says_so_once():
    script = """
import sys
sys.modules["trace_etl_exporter._ring"] = None
import trace_etl_exporter, trace_etl_exporter._pure as pure
assert trace_etl_exporter._outlet.Writer is pure.Writer
trace_etl_exporter.Outlet(dict)
trace_etl_exporter.Outlet(dict)
"""
    out = run(script, "/nowhere")
    assert out.stderr.count("The extension trace_etl_exporter._ring is missing") == 1


def test_the_api_alone_is_left_as_it_is():
    assert not isinstance(trace.get_tracer_provider(), TracerProvider)
