"""Tests the writers in C and Python with a reader written from docs/ring.md."""

import enum
import os
import stat
import threading

import pytest
from conftest import WRITERS
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import (
    INVALID_SPAN_CONTEXT,
    Link,
    SpanContext,
    SpanKind,
    TraceFlags,
    TraceState,
)
from opentelemetry.trace.status import Status, StatusCode
from reader import Json, Ring, same

SAMPLED = TraceFlags(TraceFlags.SAMPLED)


def context(trace_id=0x0102030405060708090A0B0C0D0E0F10, span_id=0x1112131415161718, **more):
    return SpanContext(trace_id, span_id, False, more.pop("flags", SAMPLED), **more)


def span(name="GET /", **more):
    fields = {"context": context(), "start_time": 1_000_000_000, "end_time": 1_000_000_250}
    return ReadableSpan(name, **(fields | more))


class Color(str, enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 7


class Unspeakable:
    def __str__(self):
        raise RuntimeError("no")


def test_a_span_comes_back_whole(new_writer):
    writer, path = new_writer(resource={"service.name": "shop", "pid": 7})
    parent = context(span_id=0x2122232425262728)
    assert writer.write(
        span(
            "POST /orders",
            context=context(trace_state=TraceState([("ot", "th:8;rv:0123456789abcd")])),
            parent=parent,
            kind=SpanKind.CLIENT,
            status=Status(StatusCode.ERROR, "refused"),
            attributes={"text": "ü", "yes": True, "no": False, "count": -3, "ratio": 0.5},
            events=[Event("retry", {"n": 1}, 1_000_000_100), Event("early", None, 999_999_999)],
        )
    )
    ring = Ring(path)
    assert ring.resource == {"service.name": "shop", "pid": 7}
    assert ring.pid == os.getpid()
    (read,) = ring.spans()
    assert read.trace_id == 0x0102030405060708090A0B0C0D0E0F10
    assert read.span_id == 0x1112131415161718
    assert read.parent_id == 0x2122232425262728
    assert (read.start_nanos, read.duration_nanos) == (1_000_000_000, 250)
    assert (read.kind, read.status, read.message) == (3, 2, "refused")
    assert (read.threshold, read.randomness) == (8 << 52, 0x0123456789ABCD)
    assert read.name == "POST /orders"
    assert read.attributes == [
        ("text", "ü"),
        ("yes", True),
        ("no", False),
        ("count", -3),
        ("ratio", 0.5),
    ]
    assert read.events == [("retry", 1_000_000_100, [("n", 1)]), ("early", 999_999_999, [])]


def test_links_of_consumers_are_written(new_writer):
    writer, path = new_writer()
    links = [Link(context(1, 2)), Link(INVALID_SPAN_CONTEXT), Link(context(1 << 127, 1 << 63))]
    many = [Link(context(1, number)) for number in range(1, 141)]
    for kind, linked in [
        (SpanKind.CONSUMER, links),
        (SpanKind.PRODUCER, links),
        (SpanKind.CONSUMER, []),
        (SpanKind.CONSUMER, many),
    ]:
        assert writer.write(span(kind=kind, events=[Event("e", {}, 5)], links=linked))
    some, producer, none, most = Ring(path).spans()
    assert some.links == [(1, 2), (1 << 127, 1 << 63)]
    assert producer.links == none.links == []
    assert most.links == [(1, number) for number in range(1, 129)]


def test_links_that_do_not_fit_are_dropped(new_writer):
    writer, path = new_writer()
    ring = Ring(path)
    counts = []
    size = ring.ring_bytes // 4 - 24 * 140
    while ring.dropped_too_large == 0:
        attributes = {"text": "x" * size}
        links = [Link(context())] * 140
        assert writer.write(span(kind=SpanKind.CONSUMER, attributes=attributes, links=links))
        counts += [len(read.links) for read in ring.consume()]
        size += 24  # a link
    assert counts[0] == 128
    assert [count for count in counts if count < 128] == list(range(127, -1, -1))


def test_the_file_is_as_the_agent_wants_it(new_writer, directory):
    _, path = new_writer()
    status = os.stat(path)
    assert stat.S_IMODE(status.st_mode) == 0o660
    assert status.st_blocks * 512 >= status.st_size
    assert [entry.name for entry in directory.iterdir()] == [os.path.basename(path)]
    pid, _, nonce = os.path.basename(path).removesuffix(".ring").partition("-")
    assert int(pid) == os.getpid() and len(nonce) == 16 and int(nonce, 16) >= 0
    ring = Ring(path)
    assert ring.has_writer
    assert ring.spans() == [] and ring.tail == ring.head == 0
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        assert ring.boot_id.hex() == file.read().strip().replace("-", "")
    # The last step, because closing releases the lock. Pages of posix_fallocate are holes on tmpfs.
    with open(path, "rb") as file:
        assert os.lseek(file.fileno(), 0, os.SEEK_HOLE) == status.st_size


def test_closing_drops_the_lock_and_writes_no_more(new_writer):
    writer, path = new_writer()
    assert writer.write(span())
    writer.close()
    writer.close()
    assert not writer.usable
    assert not writer.write(span())
    ring = Ring(path)
    assert not ring.has_writer
    assert len(ring.spans()) == 1


def test_a_span_that_is_not_sampled_is_not_written(new_writer):
    writer, path = new_writer()
    assert writer.write(span(context=context(flags=TraceFlags(0))))
    assert Ring(path).tail == 0


@pytest.mark.parametrize("kind", list(SpanKind))
def test_kinds_are_those_of_otlp(new_writer, kind):
    writer, path = new_writer()
    writer.write(span(kind=kind))
    assert Ring(path).spans()[0].kind == kind.value + 1


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ((1, 2), Json("[1,2]")),
        (("a", "ü"), Json('["a","ü"]')),
        ((True, None), Json("[true,null]")),
        ((0.5, float("nan"), float("-inf")), Json('[0.5,"NaN","-Infinity"]')),
        ({"a": (1, {"b": b"\xff"})}, Json('{"a":[1,{"b":"/w=="}]}')),
        (b"\x00\xff", b"\x00\xff"),
        (None, ""),
        (2**63 - 1, 2**63 - 1),
        (-(2**63), -(2**63)),
        (2**63, str(2**63)),
        pytest.param(10**5000, "", id="huge"),
        ("\ud800x", "?x"),
        (float("inf"), float("inf")),
        (float("nan"), float("nan")),
        (Color.RED, "red"),
        (Level.HIGH, 7),
        (Unspeakable(), ""),
        ("", ""),
    ],
)
def test_values_that_are_odd(new_writer, value, read):
    writer, path = new_writer()
    for _ in range(3):
        assert writer.write(span(attributes={"key": value}))
    for back in Ring(path).spans():
        ((key, got),) = back.attributes
        assert key == "key" and same(got, read)


def test_odd_times_names_and_keys(new_writer):
    writer, path = new_writer()
    assert writer.write(span(start_time=5, end_time=3))
    assert writer.write(span(start_time=None, end_time=None))
    assert writer.write(span("\udfff"))
    assert writer.write(span(attributes={7: 1, "\ud800": 2, "": 3}))
    assert writer.write(span(attributes={}, start_time=-(2**70), end_time=2**70))
    backwards, timeless, name, keys, far = Ring(path).spans()
    assert (backwards.start_nanos, backwards.duration_nanos) == (5, 0)
    assert (timeless.start_nanos, timeless.duration_nanos) == (0, 0)
    assert name.name == "?"
    assert keys.attributes == [("7", 1), ("?", 2), ("", 3)]
    assert far.start_nanos == -(2**63)


def test_strings_stand_once(new_writer):
    writer, path = new_writer()
    for _ in range(3):
        writer.write(span("name", attributes={"key": "value"}))
    assert Ring(path).strings() == ["name", "key", "value"]
    first, second, third = Ring(path).records()
    assert len(first) > len(second) == len(third)


def test_a_value_that_passes_once_stays_out_of_the_dictionary(new_writer):
    writer, path = new_writer()
    for number in range(100):
        writer.write(span("name", attributes={"key": f"value {number}"}))
    assert Ring(path).strings() == ["name", "key"]


def test_a_full_dictionary_leaves_strings_in_the_spans(new_writer):
    writer, path = new_writer(dictionary_bytes=4096, ring_bytes=1 << 20)
    names = [f"name {number} " + "x" * 50 for number in range(200)]
    for name in names:
        writer.write(span(name, attributes={"key": "v" * 100}))
    ring = Ring(path)
    assert [read.name for read in ring.spans()] == names
    assert 4096 - 70 < ring.field(256) <= 4096


def test_values_take_half_of_the_dictionary_at_most(new_writer):
    writer, path = new_writer(dictionary_bytes=4096, ring_bytes=1 << 20)
    values = [f"value {number} " + "x" * 50 for number in range(100)]
    for value in values:
        for _ in range(2):
            writer.write(span(attributes={"key": value}))
    ring = Ring(path)
    assert [read.attributes[0][1] for read in ring.spans()] == [v for v in values for _ in range(2)]
    assert 2048 - 70 < ring.field(256) <= 2048


def test_the_longest_entries(new_writer):
    writer, path = new_writer(dictionary_bytes=1 << 20, ring_bytes=1 << 20)
    names = ["x" * 65_535, "y" * 65_400]
    for name in names:
        writer.write(span(name))
    assert [read.name for read in Ring(path).spans()] == names


def test_a_full_ring_drops_and_counts(new_writer):
    writer, path = new_writer()
    for number in range(1000):
        assert writer.write(span(attributes={"number": number, "text": "x" * 150 + str(number)}))
    ring = Ring(path)
    assert 0 < ring.dropped_full == writer.dropped_full
    read = ring.consume()
    assert len(read) + ring.dropped_full == 1000
    assert [dict(back.attributes)["number"] for back in read] == list(range(len(read)))
    assert writer.write(span(attributes={"number": 1000}))
    assert [dict(back.attributes)["number"] for back in ring.spans()] == [1000]


def test_round_and_round(new_writer):
    writer, path = new_writer()
    ring = Ring(path)
    written = read = 0
    while ring.tail < 5 * ring.ring_bytes:
        for _ in range(40):
            writer.write(span(attributes={"number": written, "text": "x" * (written % 997)}))
            written += 1
        for back in ring.consume():
            assert dict(back.attributes) == {"number": read, "text": "x" * (read % 997)}
            read += 1
    assert (written, ring.dropped_full) == (read, 0)


def test_a_span_that_is_too_large_is_dropped_and_counted(new_writer):
    writer, path = new_writer()
    most = 64 * 1024 // 4
    for size in (most - 80, most, 1 << 20):
        assert writer.write(span(attributes={"text": "x" * size}))
    ring = Ring(path)
    assert writer.dropped_too_large == ring.dropped_too_large == 2
    assert len(ring.spans()) == 1


def test_a_head_that_makes_no_sense_is_a_full_ring(new_writer):
    writer, path = new_writer()
    writer.write(span())
    ring = Ring(path)
    tail = ring.tail
    ring.set_head(2**63 - 1)
    for _ in range(2000):
        assert writer.write(span("x" * 40))
    assert ring.tail - tail <= ring.ring_bytes
    assert writer.dropped_full > 0


def test_a_reader_that_sleeps_is_woken_once(new_writer, wake):
    writer, path = new_writer()
    ring = Ring(path)
    writer.write(span())
    with pytest.raises(BlockingIOError):
        os.read(wake, 10)
    ring.set_asleep()
    writer.write(span())
    writer.write(span())
    assert os.read(wake, 10) == b"\0"
    assert ring.asleep == 0


def test_a_fifo_that_nobody_reads_is_no_harm(new_writer, directory):
    writer, path = new_writer()
    fifo = directory / "wake"
    os.mkfifo(fifo)
    ring = Ring(path)
    reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    for _ in range(2):
        ring.set_asleep()
        assert writer.write(span())
    assert os.read(reading, 10) == b"\0\0"
    os.close(reading)
    ring.set_asleep()
    assert writer.write(span())  # EPIPE
    fifo.unlink()
    os.mkfifo(fifo)
    reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    ring.set_asleep()
    assert writer.write(span())
    assert os.read(reading, 10) == b"\0"
    os.close(reading)


def test_a_full_fifo_makes_nobody_wait(new_writer, wake, directory):
    writer, path = new_writer()
    writing = os.open(directory / "wake", os.O_WRONLY | os.O_NONBLOCK)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(writing, bytes(4096))
    Ring(path).set_asleep()
    assert writer.write(span())
    os.close(writing)


def test_a_wake_that_is_no_fifo_is_left_alone(new_writer, directory):
    writer, path = new_writer()
    (directory / "wake").write_text("mine")
    Ring(path).set_asleep()
    assert writer.write(span())
    assert (directory / "wake").read_text() == "mine"


def test_a_ring_that_was_removed_says_so_once_full(new_writer):
    writer, path = new_writer()
    os.unlink(path)
    assert any(not writer.write(span("x" * 40)) for _ in range(2000))


def test_threads_write_side_by_side(new_writer):
    writer, path = new_writer(ring_bytes=1 << 22, dictionary_bytes=1 << 20)
    per_thread = 500

    def work(thread):
        for number in range(per_thread):
            # Values that Python code creates let other threads run in the middle of a span.
            attributes = {f"key {number % 50}": (thread, number), "text": f"{thread} {number}"}
            assert writer.write(span(f"name {number}", attributes=attributes))

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen = {tuple(back.attributes[0][1].value()) for back in Ring(path).spans()}
    assert seen == {(thread, number) for thread in range(4) for number in range(per_thread)}


def test_a_forked_process_does_not_write_into_its_parents_ring(new_writer):
    writer, path = new_writer()
    pid = os.fork()
    if pid == 0:
        refused = not writer.usable and not writer.write(span("child"))
        writer.close()
        os._exit(0 if refused else 1)
    assert os.waitpid(pid, 0)[1] == 0
    ring = Ring(path)
    assert ring.has_writer and ring.tail == 0
    assert writer.write(span())


scalars = st.one_of(
    st.text(max_size=20),
    st.sampled_from(["GET", "POST", "ü", ""]),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.binary(max_size=20),
    st.none(),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=8,
)
attributes = st.dictionaries(st.text(st.characters(), max_size=10), values, max_size=8)
times = st.integers(0, 2**63 - 1)
contexts = st.builds(context, st.integers(0, 2**128 - 1), st.integers(0, 2**64 - 1))
any_span = st.builds(
    span,
    st.text(st.characters(), max_size=20),
    context=st.builds(context, st.integers(1, 2**128 - 1), st.integers(1, 2**64 - 1)),
    parent=st.none() | st.builds(context, span_id=st.integers(1, 2**64 - 1)),
    kind=st.sampled_from(SpanKind),
    status=st.sampled_from([Status(), Status(StatusCode.OK), Status(StatusCode.ERROR, "no")]),
    attributes=attributes,
    events=st.lists(st.builds(Event, st.text(max_size=5), attributes, times), max_size=3),
    links=st.lists(st.builds(Link, contexts), max_size=3),
    start_time=times,
    end_time=times,
)


@given(st.lists(any_span, max_size=6))
def test_what_is_written_is_read(new_writer, spans):
    writer, path = new_writer()
    for one in spans:
        assert writer.write(one)
    back = Ring(path).spans()
    writer.close()
    assert len(back) == len(spans)
    for one, read in zip(spans, back, strict=True):
        assert read.trace_id == one.context.trace_id
        assert read.span_id == one.context.span_id
        assert read.parent_id == (one.parent.span_id if one.parent else 0)
        assert read.start_nanos == one.start_time
        assert read.duration_nanos == max(0, one.end_time - one.start_time)
        assert read.kind == one.kind.value + 1
        assert read.status == one.status.status_code.value
        assert read.message == one.status.description
        assert read.name == said(one.name)
        assert_same_attributes(one.attributes, read.attributes)
        for event, (name, nanos, event_attributes) in zip(one.events, read.events, strict=True):
            assert (name, nanos) == (said(event.name), event.timestamp)
            assert_same_attributes(event.attributes, event_attributes)
        linked = [link.context for link in one.links if one.kind is SpanKind.CONSUMER]
        assert read.links == [(to.trace_id, to.span_id) for to in linked if to.is_valid]


def said(text):
    """Returns the text with characters that UTF-8 cannot encode replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def assert_same_attributes(expected, read):
    assert [key for key, _ in read] == [said(key) for key in expected]
    for value, (_, got) in zip(expected.values(), read, strict=True):
        if isinstance(value, (tuple, dict)):
            assert isinstance(got, Json)
        elif value is None:
            assert got == ""
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            assert got == str(value)
        else:
            assert same(got, value)


@pytest.mark.parametrize("writer_type", [None], ids=["both"])
@given(st.lists(any_span, min_size=1, max_size=6))
def test_both_writers_write_the_same_bytes(new_writer, spans):
    files = []
    for kind in WRITERS.values():
        writer, path = new_writer(kind)
        for one in spans * 2:
            assert writer.write(one)
        files.append(Ring(path).data()[:40] + Ring(path).data()[48:])
        writer.close()
    assert files[0] == files[1]
