"""Reads rings. Written from docs/ring.md alone, without code of the package."""

import base64
import dataclasses
import fcntl
import json
import math
import os
import struct
from pathlib import Path


class BrokenRing(Exception):
    """A ring breaks a rule of docs/ring.md."""


@dataclasses.dataclass
class Span:
    trace_id: int
    span_id: int
    parent_id: int
    start_nanos: int
    duration_nanos: int
    kind: int
    status: int
    threshold: int | None
    randomness: int | None
    name: str
    message: str | None
    attributes: list[tuple[str, object]]
    events: list[tuple[str, int, list[tuple[str, object]]]]
    links: list[tuple[int, int]]


@dataclasses.dataclass(frozen=True)
class Json:
    text: str

    def value(self):
        return json.loads(self.text)


def require(holds: bool, rule: str) -> None:
    if not holds:
        raise BrokenRing(rule)


class _Bytes:
    def __init__(self, data: bytes, strings: list[str]) -> None:
        self.data = data
        self.at = 0
        self.strings = strings

    def take(self, count: int) -> bytes:
        require(0 <= count <= len(self.data) - self.at, f"{count} bytes at {self.at}")
        self.at += count
        return self.data[self.at - count : self.at]

    def unpack(self, form: str):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise BrokenRing("a varint of more than 10 bytes")

    def zigzag(self) -> int:
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def string(self) -> str:
        value = self.varint()
        if value & 1:
            return self.take(value >> 1).decode("utf-8")
        require(value >> 1 < len(self.strings), f"entry {value >> 1} of {len(self.strings)}")
        return self.strings[value >> 1]

    def value(self) -> object:
        kind = self.take(1)[0]
        if kind == 0:
            return self.string()
        if kind in (1, 2):
            return kind == 2
        if kind == 3:
            return self.zigzag()
        if kind == 4:
            return self.unpack("d")[0]
        if kind == 5:
            return Json(self.string())
        require(kind == 6, f"value of type {kind}")
        return base64.b64decode(self.string(), validate=True)

    def attributes(self, count: int) -> list[tuple[str, object]]:
        return [(self.string(), self.value()) for _ in range(count)]


class Ring:
    """A ring's file. Each call reads it again."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._fd = _descriptor(self.path)
        data = self.data()
        require(data[:8] == b"TETLRING", "magic")
        version, self.header_bytes = struct.unpack_from("<II", data, 8)
        self.dictionary_bytes, self.ring_bytes, self.pid, self.start_millis = struct.unpack_from(
            "<QQQQ", data, 16
        )
        self.boot_id = data[48:64]
        resource_bytes, self.resource_count = struct.unpack_from("<II", data, 64)
        require(version == 1, "version")
        require(self.header_bytes % 4096 == 0 and 4096 <= self.header_bytes <= 131072, "H")
        require(self.dictionary_bytes % 4096 == 0, "D whole pages")
        require(4096 <= self.dictionary_bytes <= 16 << 20, "D")
        require(64 << 10 <= self.ring_bytes <= 1 << 30, "C")
        require(self.ring_bytes & (self.ring_bytes - 1) == 0, "C a power of two")
        require(resource_bytes <= self.header_bytes - 1024, "R")
        require(len(data) == self.header_bytes + self.dictionary_bytes + self.ring_bytes, "length")
        for begin, end in ((72, 128), (136, 256), (280, 384), (396, 1024)):
            require(not any(data[begin:end]), f"header from {begin} to {end} is 0")
        resource = _Bytes(data[1024 : 1024 + resource_bytes], self.strings(data))
        self.resource = dict(resource.attributes(self.resource_count))
        require(resource.at == resource_bytes, "the resource is R bytes long")
        require(not any(data[1024 + resource_bytes : self.header_bytes]), "header's rest is 0")

    def data(self) -> bytes:
        return os.pread(self._fd, os.fstat(self._fd).st_size, 0)

    def field(self, offset: int) -> int:
        return struct.unpack_from("<Q", self.data(), offset)[0]

    @property
    def tail(self) -> int:
        return self.field(128)

    @property
    def head(self) -> int:
        return self.field(384)

    @property
    def dropped_full(self) -> int:
        return self.field(264)

    @property
    def dropped_too_large(self) -> int:
        return self.field(272)

    def strings(self, data: bytes | None = None) -> list[str]:
        data = data or self.data()
        end = struct.unpack_from("<Q", data, 256)[0]
        require(end <= self.dictionary_bytes, "dictionary end")
        entries = _Bytes(data[self.header_bytes : self.header_bytes + end], [])
        strings = []
        while entries.at < end:
            length = entries.varint()
            require(1 <= length <= 65535, "an entry's length")
            strings.append(entries.take(length).decode("utf-8"))
        return strings

    def records(self, data: bytes | None = None) -> list[bytes]:
        """Returns the bodies of the spans from head to tail."""
        data = data or self.data()
        start = self.header_bytes + self.dictionary_bytes
        ring = data[start:]
        head, tail = (struct.unpack_from("<Q", data, offset)[0] for offset in (384, 128))
        position = head
        require(tail - position <= self.ring_bytes, "tail is at most C ahead of head")
        bodies = []
        while position < tail:
            at = position % self.ring_bytes
            require(at % 8 == 0, "records begin at multiples of 8")
            length, kind = struct.unpack_from("<iI", ring, at)
            require(length >= 8, f"length {length} of a record that is whole")
            size = length + 7 & ~7
            require(at + size <= self.ring_bytes, "a record ends before the ring does")
            if kind == 2:
                require(length <= min(self.ring_bytes // 4, 65536), "too large")
                bodies.append(ring[at + 8 : at + length])
                require(not any(ring[at + length : at + size]), "what rounds up is 0")
            else:
                require(kind == 1, f"record of type {kind}")
                require(at + size == self.ring_bytes, "padding goes up to the ring's end")
                require(not any(ring[at + 8 : at + length]), "padding is 0")
            position += size
        require(position == tail, "the last record ends at tail")
        free = self.ring_bytes - (tail - head)
        doubled = ring + ring
        begin = tail % self.ring_bytes
        require(not any(doubled[begin : begin + free]), "what is free is 0")
        return bodies

    def spans(self) -> list[Span]:
        data = self.data()
        strings = self.strings(data)
        return [decode(body, strings) for body in self.records(data)]

    def consume(self) -> list[Span]:
        """Reads all spans, clears them and moves head, as the agent does."""
        head, tail = self.head, self.tail
        spans = self.spans()
        start = self.header_bytes + self.dictionary_bytes
        while head < tail:
            count = min(tail - head, self.ring_bytes - head % self.ring_bytes)
            os.pwrite(self._fd, bytes(count), start + head % self.ring_bytes)
            head += count
        self.set_head(tail)
        return spans

    def set_head(self, position: int) -> None:
        os.pwrite(self._fd, struct.pack("<Q", position), 384)

    def set_asleep(self) -> None:
        os.pwrite(self._fd, struct.pack("<I", 1), 392)

    @property
    def asleep(self) -> int:
        return struct.unpack_from("<I", self.data(), 392)[0]

    @property
    def has_writer(self) -> bool:
        """Returns whether any process, this one included, holds the lock on byte 0."""
        # A lock of an open file description conflicts with the process's own locks.
        wanted = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0)
        found = fcntl.fcntl(self._fd, fcntl.F_OFD_GETLK, wanted)
        return struct.unpack_from("h", found)[0] != fcntl.F_UNLCK


_descriptors: dict[tuple[int, int], int] = {}


def _descriptor(path: Path) -> int:
    """Returns a descriptor that stays open: closing one releases this process's lock."""
    status = os.stat(path)
    key = (status.st_dev, status.st_ino)
    if key not in _descriptors:
        _descriptors[key] = os.open(path, os.O_RDWR)
    return _descriptors[key]


def close_all() -> None:
    """Closes all descriptors. Call it after the last write to a ring."""
    while _descriptors:
        os.close(_descriptors.popitem()[1])


def decode(body: bytes, strings: list[str]) -> Span:
    span = _Bytes(body, strings)
    high, low, span_id, parent_id, start, duration = span.unpack("QQQQqq")
    kind, status, flags, link_count, count = span.unpack("BBBBI")
    require(kind <= 5 and status <= 2 and flags < 16 and duration >= 0, "a head")
    require(link_count <= 128 and (link_count == 0 or kind == 5), "links of consumers only")
    threshold = span.unpack("Q")[0] if flags & 1 else None
    randomness = span.unpack("Q")[0] if flags & 2 else None
    require(max(threshold or 0, randomness or 0) < 1 << 56, "sampling below 2^56")
    name = span.string()
    message = span.string() if flags & 4 else None
    attributes = span.attributes(count)
    events = []
    for _ in range(span.varint() if flags & 8 else 0):
        event = span.string()
        nanos = start + span.zigzag()
        events.append((event, nanos, span.attributes(span.varint())))
    links = []
    for _ in range(link_count):
        trace_high, trace_low, linked = span.unpack("QQQ")
        links.append((trace_high << 64 | trace_low, linked))
    require(span.at == len(body), "a span fills its body")
    return Span(
        high << 64 | low,
        span_id,
        parent_id,
        start,
        duration,
        kind,
        status,
        threshold,
        randomness,
        name,
        message,
        attributes,
        events,
        links,
    )


def rings(directory: Path) -> list[Ring]:
    return [Ring(path) for path in sorted(Path(directory).glob("*.ring"))]


def only_ring(directory: Path) -> Ring:
    found = rings(directory)
    assert len(found) == 1, found
    return found[0]


def same(one: object, other: object) -> bool:
    """Compares values; NaN equals NaN."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    return type(one) is type(other) and one == other
