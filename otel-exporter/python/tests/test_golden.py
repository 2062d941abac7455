"""Tests that the reader of these tests reads the golden ring of all implementations."""

import struct
from pathlib import Path

from reader import Json, only_ring

GOLDEN = Path(__file__).parents[3] / "proto/src/test/resources/org/traceetl/proto/ring/ring_1.hex"


def test_the_golden_ring(directory):
    lines = [line.split() for line in GOLDEN.read_text().splitlines()]
    data = bytearray()
    for offset, digits in lines:
        data = data.ljust(int(offset, 16), b"\0") + bytes.fromhex(digits)
    header, dictionary, ring = struct.unpack_from("<I", data, 12) + struct.unpack_from(
        "<QQ", data, 16
    )
    (directory / "golden.ring").write_bytes(data.ljust(header + dictionary + ring, b"\0"))
    read = only_ring(directory)
    assert read.resource == {"service.name": "checkout", "service.instance.id": 7}
    first, second, third, fourth = read.spans()
    assert (first.name, third.name) == ("GET /1", "GET /2")
    assert (second.trace_id, second.span_id) == (
        0x0AF7651916CD43DD8448EB211C80319C,
        0xB7AD6B7169203331,
    )
    assert (second.start_nanos, second.duration_nanos) == (1795255028312000000, 1500000)
    assert (second.threshold, second.randomness) == (0xC0000000000000, 0x6E6D1A75B4F3E1)
    assert (second.kind, second.status, second.message) == (3, 2, "deadline überschritten")
    assert second.attributes == [
        ("db.system", "postgresql"),
        ("db.rows", -3),
        ("retry", True),
        ("cached", False),
        ("ratio", 0.25),
        ("db.tables", Json('["carts","users"]')),
        ("plan", b"\x00\xff"),
        ("largest", -(2**63)),
        ("empty", ""),
    ]
    start = second.start_nanos
    assert second.events == [
        ("exception", start + 1250000, [("exception.type", "java.sql.SQLTimeoutException")]),
        ("retry", start - 1, []),
    ]
    assert (second.links, fourth.kind) == ([], 5)
    assert fourth.events == [("retry", fourth.start_nanos + 500000, [])]
    assert fourth.links == [
        (second.trace_id, second.span_id),
        (0x0000000000000001FFFFFFFFFFFFFFFE, 3),
    ]
