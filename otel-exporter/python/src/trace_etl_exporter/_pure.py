"""Writes rings in Python if the extension is missing: the same bytes, only slower.

docs/ring.md describes the format. The code follows _writer.c step by step.
"""

import mmap
import os
import signal
import stat
import struct
import sys
import threading
import time

from opentelemetry.trace import SpanKind

from ._values import STRING, other_value

TAIL = 128
DICTIONARY_END = 256
DROPPED_FULL = 264
DROPPED_TOO_LARGE = 272
HEAD = 384
ASLEEP = 392

TYPE_PADDING = 1
TYPE_SPAN = 2
RECORD_HEADER = 8
MAX_RECORD = 65_536
MAX_ENTRY = 65_535

FLAG_THRESHOLD = 1
FLAG_RANDOMNESS = 2
FLAG_MESSAGE = 4
FLAG_EVENTS = 8

MAX_LINKS = 128
LINKS = 51

FALSE = 1
TRUE = 2
INTEGER = 3
DOUBLE = 4

_SEEN = 4096  # as in _writer.c
_MASK_64 = (1 << 64) - 1
_INT64_MAX = (1 << 63) - 1
_TRACE_STATE_DIGITS = 14
_SPAN_HEAD = struct.Struct("<QQQQqqBBBBI")
_LINK = struct.Struct("<QQQ")
_KINDS = {
    SpanKind.INTERNAL: 1,
    SpanKind.SERVER: 2,
    SpanKind.CLIENT: 3,
    SpanKind.PRODUCER: 4,
    SpanKind.CONSUMER: 5,
}

_generation = 0


def _in_forked_child() -> None:
    global _generation
    _generation += 1


os.register_at_fork(after_in_child=_in_forked_child)


def varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _text(value: object) -> str:
    """Returns an exact str, whose hash and comparison do not run the application's code."""
    if type(value) is str:
        return value
    try:
        return str.__str__(value) if isinstance(value, str) else str(value)
    except Exception:
        return ""


def _nanos(number: object) -> int:
    try:
        return max(-_INT64_MAX - 1, min(int(number), _INT64_MAX))
    except (TypeError, ValueError, OverflowError):
        return 0


class NoDictionary:
    """Encodes each string whole, as in a resource."""

    def string(self, text: str, value: bool) -> bytes:
        encoded = _utf8(text)
        return varint(len(encoded) << 1 | 1) + encoded


class Dictionary:
    """The strings that a ring has once. Guarded by the writer's lock."""

    def __init__(self, publish, size: int) -> None:
        self._publish = publish
        self._size = size
        self._end = 0
        self._numbers: dict[str, int] = {}
        self._seen = [0] * _SEEN

    def string(self, text: str, value: bool) -> bytes:
        number = self._numbers.get(text)
        if number is not None:
            return varint(number << 1)
        encoded = _utf8(text)
        enter = True
        if value:
            place = hash(text) & _SEEN - 1
            enter = self._seen[place] == hash(text)
            self._seen[place] = hash(text)
        entry = varint(len(encoded)) + encoded
        limit = self._size // 2 if value else self._size
        if enter and 0 < len(encoded) <= MAX_ENTRY and self._end + len(entry) <= limit:
            self._publish(self._end, entry)
            self._end += len(entry)
            number = self._numbers[text] = len(self._numbers)
            return varint(number << 1)
        return varint(len(encoded) << 1 | 1) + encoded


def put_value(out: bytearray, value: object, dictionary: "Dictionary | NoDictionary") -> None:
    if isinstance(value, str):
        out.append(STRING)
        out += dictionary.string(_text(value), True)
    elif isinstance(value, bool):
        out.append(TRUE if value else FALSE)
    elif isinstance(value, int) and -_INT64_MAX - 1 <= value <= _INT64_MAX:
        out.append(INTEGER)
        out += varint(_zigzag(int(value)))
    elif isinstance(value, float):
        out.append(DOUBLE)
        out += struct.pack("<d", value)
    else:
        kind, text = other_value(value)
        out.append(kind)
        out += dictionary.string(text, True)


def put_attributes(out: bytearray, attributes, dictionary: "Dictionary | NoDictionary") -> None:
    for key, value in attributes.items():
        out += dictionary.string(_text(key), False)
        put_value(out, value, dictionary)


def _hex(digits: str) -> int:
    if not 1 <= len(digits) <= _TRACE_STATE_DIGITS or digits.strip("0123456789abcdef"):
        return -1
    return int(digits, 16)


def _sampling(trace_state) -> tuple[int, int]:
    """Returns threshold and randomness of the tracestate's member ot; -1 for none."""
    threshold = randomness = -1
    threshold_read = False
    for part in (trace_state.get("ot") or "").split(";"):
        if part.startswith("th:") and len(part) > 3 and not threshold_read:
            threshold_read = True
            value = _hex(part[3:])
            threshold = value if value < 0 else value << 4 * (_TRACE_STATE_DIGITS + 3 - len(part))
        elif part.startswith("rv:") and len(part) == 3 + _TRACE_STATE_DIGITS and randomness < 0:
            randomness = _hex(part[3:])
    return threshold, randomness


def _linked(links, most: int) -> list[bytes]:
    """Returns the IDs of the first valid links, at most `most`."""
    linked: list[bytes] = []
    for link in links:
        if len(linked) >= most:
            break
        high = link.context.trace_id >> 64 & _MASK_64
        low = link.context.trace_id & _MASK_64
        span_id = link.context.span_id & _MASK_64
        if (high or low) and span_id:
            linked.append(_LINK.pack(high, low, span_id))
    return linked


class Writer:
    """Writes spans into the ring of an open, locked file, and closes the file. Thread-safe.

    One lock serializes claims and changes of the dictionary. Acquiring and releasing a lock is also
    the fence between a record's body and its length.
    """

    def __init__(
        self, fd: int, header_bytes: int, dictionary_bytes: int, ring_bytes: int, wake_path: str
    ) -> None:
        if sys.byteorder != "little":
            raise OSError("rings need a little-endian machine")
        if os.fstat(fd).st_size != header_bytes + dictionary_bytes + ring_bytes:
            raise ValueError("the file must be as long as header, dictionary and ring")
        self._fd = fd
        self._map = mmap.mmap(fd, header_bytes + dictionary_bytes + ring_bytes)
        self._bytes = memoryview(self._map)
        # These store whole numbers at once; struct writes byte by byte.
        self._int32 = self._bytes.cast("i")
        self._int64 = self._bytes.cast("q")
        self._header_bytes = header_bytes
        self._ring_bytes = ring_bytes
        self._ring = header_bytes + dictionary_bytes
        self._max_record = min(ring_bytes // 4, MAX_RECORD)
        self._wake_path = wake_path
        self._wake_fd = -1
        self._lock = threading.RLock()
        self._writing = False  # a finalizer or a signal handler may end a span meanwhile
        self._closing = False
        self._fence = threading.Lock()
        self._dictionary = Dictionary(self._publish_entry, dictionary_bytes)
        self._generation = _generation
        self._next_link_check = 0.0

    @property
    def usable(self) -> bool:
        """Whether the writer is open and this process created it."""
        return self._fd >= 0 and self._generation == _generation

    @property
    def dropped_full(self) -> int:
        return self._int64[DROPPED_FULL // 8] if self._fd >= 0 else 0

    @property
    def dropped_too_large(self) -> int:
        return self._int64[DROPPED_TOO_LARGE // 8] if self._fd >= 0 else 0

    def write(self, span) -> bool:
        """Writes an ended SDK span if it is sampled. Returns False if the writer is not usable."""
        if not self.usable:
            return False
        context = span.context
        if context is None or not context.trace_flags & 1:
            return True
        start = _nanos(span.start_time)
        end = _nanos(span.end_time)
        status = span.status
        message = status.description if status is not None else None
        attributes = span.attributes or {}
        events = span.events
        state = context.trace_state
        threshold, randomness = _sampling(state) if state else (-1, -1)
        flags = (
            (FLAG_THRESHOLD if threshold >= 0 else 0)
            | (FLAG_RANDOMNESS if randomness >= 0 else 0)
            | (FLAG_MESSAGE if message is not None else 0)
            | (FLAG_EVENTS if events else 0)
        )
        with self._lock:
            if not self.usable:
                return False
            if self._writing:
                self._int64[DROPPED_FULL // 8] += 1
                return True
            self._writing = True
            try:
                string = self._dictionary.string
                body = bytearray(
                    _SPAN_HEAD.pack(
                        context.trace_id >> 64 & _MASK_64,
                        context.trace_id & _MASK_64,
                        context.span_id & _MASK_64,
                        span.parent.span_id & _MASK_64 if span.parent is not None else 0,
                        start,
                        max(0, min(end - start, _INT64_MAX)),
                        _KINDS.get(span.kind, 0),
                        status.status_code.value if status is not None else 0,
                        flags,
                        0,
                        len(attributes),
                    )
                )
                if threshold >= 0:
                    body += struct.pack("<Q", threshold)
                if randomness >= 0:
                    body += struct.pack("<Q", randomness)
                body += string(_text(span.name), False)
                if message is not None:
                    body += string(_text(message), True)
                put_attributes(body, attributes, self._dictionary)
                if events:
                    body += varint(len(events))
                    for event in events:
                        body += string(_text(event.name), False)
                        body += varint(_zigzag(_nanos(event.timestamp) - start) & _MASK_64)
                        body += varint(len(event.attributes or {}))
                        put_attributes(body, event.attributes or {}, self._dictionary)
                if span.kind is SpanKind.CONSUMER:
                    room = self._max_record - RECORD_HEADER - len(body)
                    links = _linked(span.links, min(MAX_LINKS, room // _LINK.size))
                    body[LINKS] = len(links)
                    body += b"".join(links)
                return self._publish(body)
            finally:
                self._writing = False
                if self._closing:
                    self.close()

    def wake(self) -> None:
        """Writes a byte into the agent's FIFO if the agent reads it."""
        if self._wake_fd >= 0:
            if _poke(self._wake_fd):
                return
            os.close(self._wake_fd)
            self._wake_fd = -1
        try:
            flags = os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
            self._wake_fd = os.open(self._wake_path, flags)
        except OSError:
            return
        if stat.S_ISFIFO(os.fstat(self._wake_fd).st_mode):
            _poke(self._wake_fd)
        else:
            os.close(self._wake_fd)
            self._wake_fd = -1

    def close(self) -> None:
        """Unmaps and closes the file, which releases the lock. Idempotent."""
        if self._generation != _generation:
            self._lock = threading.RLock()  # its owner may not exist in this process
        with self._lock:
            self._closing = True
            if self._fd < 0 or self._writing:
                return
            for view in (self._int32, self._int64, self._bytes):
                view.release()
            self._map.close()
            os.close(self._fd)
            self._fd = -1
            if self._wake_fd >= 0:
                os.close(self._wake_fd)
                self._wake_fd = -1

    def _publish_entry(self, at: int, entry: bytes) -> None:
        begin = self._header_bytes + at
        self._bytes[begin : begin + len(entry)] = entry
        with self._fence:
            pass
        self._int64[DICTIONARY_END // 8] = at + len(entry)

    def _publish(self, body: bytearray) -> bool:
        length = RECORD_HEADER + len(body)
        if length > self._max_record:
            self._int64[DROPPED_TOO_LARGE // 8] += 1
            return True
        size = length + 7 & ~7
        tail = self._int64[TAIL // 8]
        to_end = self._ring_bytes - (tail & self._ring_bytes - 8)
        padding = to_end if to_end < size else 0
        used = tail - self._int64[HEAD // 8]
        if not 0 <= used <= self._ring_bytes - size - padding:
            if self._is_unlinked():
                return False
            self._int64[DROPPED_FULL // 8] += 1
            return True
        self._int64[TAIL // 8] = tail + padding + size
        record = self._ring + self._ring_bytes - to_end
        if padding:
            self._int32[record // 4 + 1] = TYPE_PADDING
            with self._fence:
                pass
            self._int32[record // 4] = padding
            record = self._ring
        self._int32[record // 4] = -length
        with self._fence:
            pass
        self._int32[record // 4 + 1] = TYPE_SPAN
        self._bytes[record + RECORD_HEADER : record + length] = body
        with self._fence:
            pass
        self._int32[record // 4] = length
        with self._fence:
            pass
        if self._int32[ASLEEP // 4] == 1:
            self._int32[ASLEEP // 4] = 0
            self.wake()
        return True

    def _is_unlinked(self) -> bool:
        """Returns whether the file of a full ring was removed. Checks at most once a second."""
        now = time.monotonic()
        if now < self._next_link_check:
            return False
        self._next_link_check = now + 1
        return os.fstat(self._fd).st_nlink == 0


def _poke(fd: int) -> bool:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
    try:
        os.write(fd, b"\0")
    except BlockingIOError:
        return True
    except OSError:
        if signal.SIGPIPE in signal.sigpending():
            signal.sigtimedwait({signal.SIGPIPE}, 0)
        return False
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return True
