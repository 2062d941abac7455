"""Compares this package's provider with the SDK's: each scenario runs through both."""

import asyncio
import gc
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import weakref

import pytest
from opentelemetry import context as context_api
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, sampling
from opentelemetry.sdk.trace import TracerProvider as SdkTracerProvider
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    TraceState,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from reader import only_ring, rings

from trace_etl_exporter import Outlet, RingSpanProcessor, TracerProvider

REMOTE = SpanContext(
    0x0AF7651916CD43DD8448EB211C80319C,
    0x00F067AA0BA902B7,
    True,
    TraceFlags(3),
    TraceState([("ot", "th:c;rv:0123456789abcd"), ("other", "x")]),
)
UNSAMPLED = SpanContext(0x0AF7651916CD43DD8448EB211C80319C, 1, True, TraceFlags(0))


class Collecting(SpanProcessor):
    def __init__(self):
        self.spans = []

    def on_end(self, span):
        self.spans.append(span)


@pytest.fixture
def provider(directory):
    resource = Resource({"service.name": "shop"})
    outlet = Outlet(lambda: resource.attributes, str(directory), 1 << 22)
    made = TracerProvider(resource=resource, outlet=outlet)
    yield made
    made.shutdown()


def outcome(span, ids, started):
    """Returns the parts of a span from a ring that must be equal."""

    def numbered(number):
        return ids.setdefault(number, len(ids)) if number else 0

    return (
        numbered(span.trace_id),
        numbered(span.parent_id),
        numbered(span.span_id),
        span.start_nanos if span.start_nanos < started else "now",
        span.duration_nanos if span.start_nanos < started else "some",
        span.kind,
        span.status,
        span.threshold,
        span.randomness,
        span.name,
        span.message,
        [(key, without_lines(value)) for key, value in span.attributes],
        [
            (
                name,
                nanos if nanos < started else "now",
                [(key, without_lines(value)) for key, value in attributes],
            )
            for name, nanos, attributes in span.events
        ],
        [(numbered(trace_id), numbered(span_id)) for trace_id, span_id in span.links],
    )


def without_lines(value):
    """Keeps the last line of a stack trace; the others depend on the implementation."""
    if isinstance(value, str) and value.startswith("Traceback"):
        return value.rstrip().rpartition("\n")[2]
    return value


def views(span):
    """Returns what an application can read of an open span."""
    context = span.get_span_context()
    seen = [
        span.is_recording(),
        isinstance(span, trace.Span),
        context.is_valid,
        context.is_remote,
        int(context.trace_flags),
        dict(context.trace_state),
    ]
    if span.is_recording():
        seen += [
            span.name,
            span.kind,
            dict(span.attributes),
            span.status.status_code,
            span.status.description,
            [
                (
                    event.name,
                    [(key, without_lines(value)) for key, value in event.attributes.items()],
                )
                for event in span.events
            ],
            [(link.context, dict(link.attributes)) for link in span.links],
            span.parent and (span.parent.is_remote, int(span.parent.trace_flags)),
            dict(span.parent.trace_state) if span.parent else None,
            span.dropped_attributes,
            span.dropped_events,
            span.dropped_links,
            span.resource.attributes["service.name"],
            span.instrumentation_scope.name,
        ]
    return seen


SCENARIOS = {}


def scenario(function):
    SCENARIOS[function.__name__] = function
    return function


def remote(context=REMOTE):
    return trace.set_span_in_context(NonRecordingSpan(context))


@scenario
def nested(tracer, see):
    with tracer.start_as_current_span("a", kind=SpanKind.SERVER) as a:
        see(a)
        assert trace.get_current_span() is a
        with tracer.start_as_current_span("b", attributes={"x": 1}) as b:
            see(b)
        assert trace.get_current_span() is a
        other = tracer.start_span("c", kind=SpanKind.CLIENT)
        see(other)
        other.end()
    assert trace.get_current_span() is trace.INVALID_SPAN


@scenario
def parents(tracer, see):
    for context in (remote(), remote(UNSAMPLED), context_api.Context(), None):
        with tracer.start_as_current_span("parented", context) as span:
            see(span)
            tracer.start_span("child").end()
            tracer.start_span("root", context=context_api.Context()).end()
    with trace.use_span(NonRecordingSpan(REMOTE)):
        tracer.start_span("under another's").end()
    with trace.use_span(trace.INVALID_SPAN):
        tracer.start_span("under none").end()
    context = trace.set_span_in_context(tracer.start_span("not ended"))
    tracer.start_span("child of that", context=context).end()


@scenario
def baggage_stays(tracer, see):
    token = context_api.attach(context_api.set_value("key", "kept"))
    with tracer.start_as_current_span("a"):
        assert context_api.get_value("key") == "kept"
        with tracer.start_as_current_span("b"):
            assert context_api.get_value("key") == "kept"
    context_api.detach(token)


@scenario
def attributes(tracer, see):
    span = tracer.start_span(
        "a", attributes={"s": "x", "i": 1, "f": 1.5, "b": True, "list": [1, 2], "none": None}
    )
    see(span)
    span.set_attribute("i", 2)
    span.set_attribute("new", "y")
    span.set_attribute("bytes", b"\x00\xff")
    span.set_attribute("map", {"a": [1, {"b": None}]})
    span.set_attribute("object", object)
    span.set_attribute("", 1)
    span.set_attribute(7, 1)
    span.set_attribute(key="named", value="z")
    span.set_attributes({"s": "again", "": 1, "many": ("a", "b"), "set": {1}})
    span.set_attributes({"plain": 1, "s": "moved"})
    span.set_attributes({5: "number"})
    span.set_attributes({})
    see(span)
    span.end()
    span.set_attribute("late", 1)
    span.set_attributes({"late": 1})


@scenario
def many_attributes(tracer, see):
    span = tracer.start_span("a", attributes={f"k{n}": n for n in range(150)})
    see(span)
    span.end()
    span = tracer.start_span("b")
    for number in range(150):
        span.set_attribute(f"k{number % 140}", number)
    span.set_attributes({f"m{n}": "v" for n in range(10)})
    span.set_attributes({"list": [1], "k139": [2], "x" * 200: "y" * 200})
    see(span)
    span.end()


@scenario
def events(tracer, see):
    span = tracer.start_span("a", start_time=1_000)
    span.add_event("plain")
    span.add_event("with", {"a": 1, "b": [1, "x"], "": 2})
    span.add_event("then", {"a": "x" * 100}, 1_500)
    span.add_event(name="named", attributes=None, timestamp=900)
    span.add_event("many", {f"k{n}": n for n in range(150)})
    see(span)
    span.end(2_000)
    span.add_event("late")


@scenario
def many_events(tracer, see):
    span = tracer.start_span("a")
    for number in range(140):
        span.add_event(f"event {number}", {"n": number})
    see(span)
    span.end()


@scenario
def links(tracer, see):
    given = [Link(REMOTE, {"a": "x" * 100}), Link(trace.INVALID_SPAN_CONTEXT), Link(UNSAMPLED)]
    span = tracer.start_span("a", kind=SpanKind.CONSUMER, links=given)
    span.add_link(REMOTE, {f"k{n}": n for n in range(150)})
    span.add_link(trace.INVALID_SPAN_CONTEXT)
    span.add_link(trace.INVALID_SPAN_CONTEXT, {"kept": True})
    for _ in range(130):
        span.add_link(UNSAMPLED)
    see(span)
    span.end()
    span.add_link(REMOTE)
    tracer.start_span("b", kind=SpanKind.CONSUMER, links=None).end()
    tracer.start_span("c", kind=SpanKind.CONSUMER, links=()).end()
    given.append(Link(span.get_span_context()))
    tracer.start_span("d", kind=SpanKind.CONSUMER, links=given).end()
    tracer.start_span("e", kind=SpanKind.SERVER, links=given).end()


@scenario
def statuses(tracer, see):
    for calls in (
        [(StatusCode.OK,)],
        [(StatusCode.ERROR,)],
        [(StatusCode.ERROR, "why")],
        [(StatusCode.OK, "ignored")],
        [(StatusCode.UNSET,)],
        [(StatusCode.ERROR, "why"), (StatusCode.UNSET,)],
        [(StatusCode.ERROR, "why"), (StatusCode.OK,)],
        [(StatusCode.OK,), (StatusCode.ERROR, "too late")],
        [(StatusCode.ERROR, "first"), (StatusCode.ERROR, "second")],
        [(StatusCode.ERROR, "first"), (StatusCode.ERROR,)],
        [(Status(StatusCode.ERROR, "why"),)],
        [(Status(StatusCode.ERROR, "why"), "ignored")],
        [(Status(StatusCode.OK),), (Status(StatusCode.ERROR, "no"),)],
        [(Status(),)],
        [(StatusCode.ERROR, 7)],
        [("nonsense",)],
    ):
        span = tracer.start_span("a")
        for call in calls:
            span.set_status(*call)
        see(span)
        span.end()
        span.set_status(StatusCode.ERROR)


@scenario
def names_and_times(tracer, see):
    span = tracer.start_span("a", start_time=1_000)
    span.update_name("b")
    see(span)
    span.end(end_time=5_000)
    span.update_name("late")
    span.end()
    span.end(9_000)
    tracer.start_span(name="c", start_time=10).end(5)
    tracer.start_span("", kind=SpanKind.PRODUCER).end()
    tracer.start_span("d", None, SpanKind.CONSUMER, {"a": 1}, None, 7, True, True).end(8)


class Custom(Exception):
    pass


@scenario
def exceptions_within(tracer, see):
    for flags in ({}, {"record_exception": False}, {"set_status_on_exception": False}):
        for error in (ValueError("no"), Custom("ours"), KeyError("k")):
            with pytest.raises(type(error)):
                with tracer.start_as_current_span("current", **flags):
                    raise error
            with pytest.raises(type(error)):
                with tracer.start_span("own", **flags):
                    raise error
    for error in (SystemExit(1), KeyboardInterrupt(), GeneratorExit()):
        with pytest.raises(type(error)):
            with tracer.start_as_current_span("no error"):
                raise error
        with pytest.raises(type(error)):
            with tracer.start_span("an error"):
                raise error
    with pytest.raises(ValueError):
        with tracer.start_as_current_span("ok stays") as span:
            span.set_status(StatusCode.OK)
            raise ValueError("no")
    with pytest.raises(ValueError):
        with tracer.start_as_current_span("ended within") as span:
            span.end()
            raise ValueError("no")
    with pytest.raises(ValueError):
        with tracer.start_as_current_span("open", end_on_exit=False) as span:
            raise ValueError("no")
    see(span)
    span.end()


@scenario
def recorded_exceptions(tracer, see):
    span = tracer.start_span("a")
    span.record_exception(ValueError("no"))
    span.record_exception(Custom("x" * 100), {"more": 1, "exception.message": "ours"}, 5, True)
    span.record_exception(exception=KeyError(1), attributes=None, timestamp=None, escaped=False)
    see(span)
    span.end()
    span.record_exception(ValueError("late"))


@scenario
def decorated(tracer, see):
    @tracer.start_as_current_span("function", attributes={"a": 1})
    def function(x, y=2):
        see(trace.get_current_span())
        return x + y

    @tracer.start_as_current_span("coroutine")
    async def coroutine(x):
        await asyncio.sleep(0)
        see(trace.get_current_span())
        return x

    assert function(1) == function(1, y=2) == 3
    assert function.__name__ == "function"
    assert asyncio.run(coroutine(5)) == 5


@scenario
def coroutines(tracer, see):
    async def work(name):
        with tracer.start_as_current_span(name):
            await asyncio.sleep(0)
            with tracer.start_as_current_span(f"{name} inner"):
                await asyncio.sleep(0)

    async def main():
        with tracer.start_as_current_span("outer"):
            await work("first")
            await asyncio.gather(work("second"))

    asyncio.run(main())


@scenario
def with_use_span(tracer, see):
    span = tracer.start_span("a")
    with trace.use_span(span, end_on_exit=True):
        tracer.start_span("b").end()
        see(trace.get_current_span())
    with pytest.raises(ValueError):
        with trace.use_span(tracer.start_span("c"), end_on_exit=True):
            raise ValueError("no")


@scenario
def propagated(tracer, see):
    carrier = {}
    with tracer.start_as_current_span("a", context=remote()) as span:
        TraceContextTextMapPropagator().inject(carrier)
        context = span.get_span_context()
        assert carrier["traceparent"].split("-")[1:3] == [
            trace.format_trace_id(context.trace_id),
            trace.format_span_id(context.span_id),
        ]
    assert carrier["tracestate"] == "ot=th:c;rv:0123456789abcd,other=x"
    with tracer.start_as_current_span("b", TraceContextTextMapPropagator().extract(carrier)) as b:
        see(b)


@scenario
def a_database(tracer, see):
    from opentelemetry.instrumentation.sqlite3 import SQLite3Instrumentor

    class Provider(trace.TracerProvider):
        def get_tracer(self, *args, **kwargs):
            return tracer

    connection = SQLite3Instrumentor().instrument_connection(
        sqlite3.connect(":memory:"), Provider()
    )
    cursor = connection.cursor()
    with tracer.start_as_current_span("request"):
        cursor.execute("CREATE TABLE t (a INTEGER)")
        cursor.executemany("INSERT INTO t VALUES (?)", [(1,), (2,)])
        assert cursor.execute("SELECT a FROM t").fetchall() == [(1,), (2,)]
        with pytest.raises(sqlite3.OperationalError):
            cursor.execute("SELECT nothing FROM nowhere")


LIMITS = {
    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "3",
    "OTEL_SPAN_EVENT_COUNT_LIMIT": "2",
    "OTEL_SPAN_LINK_COUNT_LIMIT": "2",
    "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT": "1",
    "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT": "1",
    "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "5",
    "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": "4",
}
NOTHING = {key: "0" for key in LIMITS}
ENVIRONMENTS = {
    "defaults": {},
    "limits": LIMITS,
    "nothing": NOTHING,
    "always_on": {"OTEL_TRACES_SAMPLER": "always_on"},
    "always_off": {"OTEL_TRACES_SAMPLER": "always_off"},
    "parentbased_always_off": {"OTEL_TRACES_SAMPLER": "parentbased_always_off"},
    "ratio_0": {"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0"},
    "ratio_1": {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "1"},
    "ratio_nonsense": {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "x"},
    "nonsense": {"OTEL_TRACES_SAMPLER": "nonsense"},
}


def sdk_provider(resource, outlet, sampler=None):
    provider = SdkTracerProvider(sampler, resource)
    provider.add_span_processor(RingSpanProcessor(provider, outlet))
    return provider


def run_in(make, directory, scenarios, **more):
    resource = Resource({"service.name": "shop"})
    directory.mkdir()
    provider = make(
        resource=resource, outlet=Outlet(lambda: resource.attributes, str(directory)), **more
    )
    tracer = provider.get_tracer("scenario", "1")
    started = time.time_ns()
    seen = []
    for run in scenarios:
        run(tracer, lambda span: seen.append(views(span)))
    spans = only_ring(directory).spans() if rings(directory) else []
    provider.shutdown()
    ids = {0: 0}
    return [outcome(span, ids, started) for span in spans], seen


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_as_the_sdk(directory, monkeypatch, caplog, name, environment):
    caplog.set_level(logging.CRITICAL)
    for key, value in ENVIRONMENTS[environment].items():
        monkeypatch.setenv(key, value)
    one = run_in(sdk_provider, directory / "sdk", [SCENARIOS[name]])
    other = run_in(TracerProvider, directory / "own", [SCENARIOS[name]])
    assert other == one


class Odd(sampling.Sampler):
    """Drops, records and samples in turn, and changes attributes and trace state."""

    def __init__(self):
        self.calls = []

    def should_sample(
        self, parent_context, trace_id, name, kind=None, attributes=None, links=None, state=None
    ):
        self.calls.append((name, kind, dict(attributes or {}), len(links or ())))
        decision = list(sampling.Decision)[len(self.calls) % 3]
        return sampling.SamplingResult(decision, {"odd": len(self.calls)}, TraceState([("o", "k")]))

    def get_description(self):
        return "ParentBased{root:AlwaysOnSampler}"


@pytest.mark.parametrize("name", sorted(SCENARIOS.keys() - {"propagated"}))
def test_under_a_sampler_of_the_applications(directory, caplog, name):
    caplog.set_level(logging.CRITICAL)
    one, other = Odd(), Odd()
    assert run_in(sdk_provider, directory / "a", [SCENARIOS[name]], sampler=one) == run_in(
        TracerProvider, directory / "b", [SCENARIOS[name]], sampler=other
    )
    assert one.calls == other.calls


def test_a_ratio_is_that_of_the_sdk(directory):
    sampler = sampling.ParentBasedTraceIdRatio(0.3)
    provider = TracerProvider(sampler, outlet=Outlet(dict, str(directory)))
    tracer = provider.get_tracer("test")
    spans = [tracer.start_span("span") for _ in range(1000)]
    for span in spans:
        trace_id = span.get_span_context().trace_id
        expected = sampler.should_sample(None, trace_id, "span").decision.is_sampled()
        assert span.is_recording() == span.get_span_context().trace_flags.sampled == expected
    assert 100 < sum(span.is_recording() for span in spans) < 500
    provider.shutdown()


def test_warnings_are_logged_not_raised(provider, caplog):
    span = provider.get_tracer("test").start_span("a")
    span.end()
    caplog.clear()
    span.end()
    span.set_attribute("a", 1)
    span.add_event("e")
    span.update_name("b")
    span.set_status(StatusCode.OK)
    assert len(caplog.records) == 5


def test_wrong_calls_are_type_errors(provider):
    tracer = provider.get_tracer("test")
    span = tracer.start_span("a")
    for call in (
        lambda: tracer.start_span(),
        lambda: tracer.start_span("a", name="b"),
        lambda: tracer.start_span("a", nothing=1),
        lambda: tracer.start_as_current_span("a", None, None, None, None, None, 1, 1, 1, 1),
        lambda: span.set_attribute("a"),
        lambda: span.add_event(),
        lambda: span.set_attributes(),
        lambda: type(span)(),
    ):
        with pytest.raises(TypeError):
            call()
    span.end()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_application_error_is_not_hidden(provider, directory):
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    with pytest.raises(Mute):
        with provider.get_tracer("test").start_as_current_span("a"):
            raise Mute
    (span,) = only_ring(directory).spans()
    assert (span.status, span.message) == (2, None)


def test_ids_differ_in_threads_and_forks(provider, directory):
    tracer = provider.get_tracer("test")

    def work():
        for _ in range(500):
            tracer.start_span("a").end()

    work()
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [span for ring in rings(directory) for span in ring.spans()]
    assert len(rings(directory)) == 2
    assert len({span.span_id for span in found}) == len({span.trace_id for span in found}) == 3000


def test_threads_that_change_a_span_while_it_ends(provider, directory):
    """No call may crash, and each written span must be whole."""
    tracer = provider.get_tracer("test")
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def change(span):
        for number in range(8):
            span.set_attributes({"list": [number], "plain": number, f"k{number}": (number,)})
            span.add_event(f"event {number}", {"list": [number]})
            span.set_status(StatusCode.ERROR, f"why {number}")
            span.update_name(f"name {number}")

    logging.disable()
    try:
        for _ in range(50):
            span = tracer.start_span("a", attributes={"many": tuple(range(100))})
            threads = [threading.Thread(target=change, args=(span,)) for _ in range(3)]
            for thread in threads:
                thread.start()
            span.end()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
        logging.disable(logging.NOTSET)
    assert len(only_ring(directory).spans()) == 50


def test_an_interrupt_within_end_goes_on(provider, directory):
    class Interrupting:
        def __str__(self):
            raise KeyboardInterrupt

    tracer = provider.get_tracer("test")
    tracer.start_span("first").end()
    with pytest.raises(KeyboardInterrupt):
        tracer.start_span(Interrupting()).end()
    with pytest.raises(KeyboardInterrupt):
        with tracer.start_as_current_span(Interrupting()):
            pass
    assert trace.get_current_span() is trace.INVALID_SPAN
    assert len(only_ring(directory).spans()) == 3


def test_providers_do_not_outlive_their_use(directory):
    made = TracerProvider(outlet=Outlet(dict, str(directory)), shutdown_on_exit=False)
    made.get_tracer("test").start_span("a").end()
    reference = weakref.ref(made)
    del made
    gc.collect()
    assert reference() is None
    assert not only_ring(directory).has_writer


def test_a_child_has_another_instance(directory, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_TRACE_ETL_DIRECTORY", str(directory))
    provider = TracerProvider()
    provider.get_tracer("test").start_span("a").end()
    pid = os.fork()
    if pid == 0:
        provider.get_tracer("test").start_span("b").end()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    provider.shutdown()
    one, other = rings(directory)
    instances = {ring.resource.get("service.instance.id") for ring in (one, other)}
    assert len(instances) == 2 or instances == {None}


def test_without_an_agent_spans_go_to_otlp_whole(tmp_path):
    other = Collecting()
    provider = TracerProvider(
        resource=Resource({"service.name": "shop"}),
        outlet=Outlet(dict, str(tmp_path / "missing"), fallback=other),
    )
    tracer = provider.get_tracer("scope", "2")
    with tracer.start_as_current_span("a", remote(), links=[Link(REMOTE, {"l": 1})]) as a:
        a.set_attribute("k", [1])
        a.add_event("e", {"n": 1}, 5)
        a.set_status(StatusCode.ERROR, "why")
    (span,) = other.spans
    assert (span.name, span.context, span.parent) == ("a", a.get_span_context(), REMOTE)
    assert dict(span.attributes) == {"k": (1,)}
    assert [(e.name, e.timestamp, dict(e.attributes)) for e in span.events] == [("e", 5, {"n": 1})]
    assert [(link.context, dict(link.attributes)) for link in span.links] == [(REMOTE, {"l": 1})]
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "why")
    assert (span.instrumentation_scope.name, span.instrumentation_scope.version) == ("scope", "2")
    assert span.resource.attributes["service.name"] == "shop"
    assert span.end_time >= span.start_time
    provider.shutdown()


def test_nothing_is_written_after_shutting_down(provider, directory):
    tracer = provider.get_tracer("test")
    tracer.start_span("before").end()
    provider.shutdown()
    provider.shutdown()
    tracer.start_span("after").end()
    assert [span.name for span in only_ring(directory).spans()] == ["before"]


def run(script, directory, *command, **environment):
    return subprocess.run(
        [*(command or (sys.executable,)), "-c", script],
        env=os.environ | {"OTEL_EXPORTER_TRACE_ETL_DIRECTORY": str(directory)} | environment,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )


THREE_SPANS = """
from opentelemetry import trace
for name in "abc":
    trace.get_tracer("test").start_span(name).end()
print(type(trace.get_tracer_provider()).__name__)
"""


def test_the_environment_selects_it(directory):
    out = run(
        THREE_SPANS,
        directory,
        OTEL_PYTHON_TRACER_PROVIDER="trace-etl",
        OTEL_RESOURCE_ATTRIBUTES="team=blue",
        OTEL_SERVICE_NAME="shop",
    )
    assert (out.stdout, out.stderr) == ("_RingTracerProvider\n", "")
    ring = only_ring(directory)
    assert [span.name for span in ring.spans()] == ["a", "b", "c"]
    assert (ring.resource["team"], ring.resource["service.name"]) == ("blue", "shop")


CONFIGURED = """
from trace_etl_exporter._configurator import Configurator
Configurator().configure()
"""


def test_the_configurator_selects_it_if_asked(directory):
    asked = {"OTEL_PYTHON_TRACER_PROVIDER": "trace-etl", "OTEL_TRACES_EXPORTER": "console"}
    out = run(CONFIGURED + THREE_SPANS, directory, **asked)
    assert (out.stdout, out.stderr) == ("_RingTracerProvider\n", "")
    assert len(only_ring(directory).spans()) == 3


def test_the_configurator_is_the_sdks_if_not(directory):
    out = run(CONFIGURED + THREE_SPANS, directory, OTEL_TRACES_EXPORTER="trace-etl")
    assert (out.stdout, out.stderr) == ("TracerProvider\n", "")
    assert len(only_ring(directory).spans()) == 3


def test_disabled_is_disabled(directory):
    disabled = {"OTEL_PYTHON_TRACER_PROVIDER": "trace-etl", "OTEL_SDK_DISABLED": "true"}
    run(THREE_SPANS, directory, **disabled)
    assert rings(directory) == []


def test_without_the_extension_it_is_the_sdks(directory):
    script = "import sys; sys.modules['trace_etl_exporter._ring'] = None\n" + THREE_SPANS
    out = run(script, directory, OTEL_PYTHON_TRACER_PROVIDER="trace-etl")
    assert out.stdout == "TracerProvider\n"
    assert len(only_ring(directory).spans()) == 3


def test_a_context_of_another_kind_works_as_well(directory):
    script = """
from opentelemetry import context, trace
class Other(type(context._RUNTIME_CONTEXT)):
    pass
Other.__name__ = "Other"
context._RUNTIME_CONTEXT = Other()
import trace_etl_exporter
assert trace_etl_exporter._rare.CURRENT_VARIABLE is None
tracer = trace_etl_exporter.TracerProvider().get_tracer("test")
with tracer.start_as_current_span("a") as a:
    assert trace.get_current_span() is a
    with tracer.start_as_current_span("b"):
        pass
assert not trace.get_current_span().is_recording()
"""
    run(script, directory)
    b, a = only_ring(directory).spans()
    assert b.parent_id == a.span_id


KILLED = """
from trace_etl_exporter import TracerProvider
tracer = TracerProvider().get_tracer("test")
number = 0
while True:
    with tracer.start_as_current_span("span", attributes={"n": number}):
        pass
    print(number, flush=True)
    number += 1
"""


def test_a_process_that_is_killed_loses_no_span_that_ended(directory):
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED],
        env=os.environ | {"OTEL_EXPORTER_TRACE_ETL_DIRECTORY": str(directory)},
        stdout=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout:
        if int(line) == 1000:
            process.send_signal(signal.SIGKILL)
            break
    last = max([1000, *(int(line) for line in process.stdout if line.endswith("\n"))])
    process.wait()
    process.stdout.close()
    numbers = [dict(span.attributes)["n"] for span in only_ring(directory).spans()]
    assert numbers == list(range(len(numbers))) and numbers[-1] >= last
