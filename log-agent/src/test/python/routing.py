#!/usr/bin/env python3
"""Computes the routing of docs/routing.md. Written from that page, without code of the agent.

  routing.py FILE           checks each vector of the file; exit code 1 if one differs
  routing.py --write FILE   writes the golden vectors
"""

import json
import sys

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)


def rotate(x, by):
    return (x << by | x >> (64 - by)) & MASK


def step(lane, word):
    return rotate((lane + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data, seed):
    """Returns the XXH64 of bytes with a 64-bit seed."""
    seed &= MASK
    at, end = 0, len(data)
    if end >= 32:
        lanes = [(seed + P1 + P2) & MASK, (seed + P2) & MASK, seed, (seed - P1) & MASK]
        while end - at >= 32:
            for i in range(4):
                lanes[i] = step(lanes[i], int.from_bytes(data[at : at + 8], "little"))
                at += 8
        h = sum(rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            h = ((h ^ step(0, lane)) * P1 + P4) & MASK
    else:
        h = (seed + P5) & MASK
    h = (h + end) & MASK
    while end - at >= 8:
        h = (rotate(h ^ step(0, int.from_bytes(data[at : at + 8], "little")), 27) * P1 + P4) & MASK
        at += 8
    if end - at >= 4:
        word = int.from_bytes(data[at : at + 4], "little")
        h = (rotate(h ^ word * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ byte * P5 & MASK, 11) * P1 & MASK
    for shift, factor in ((33, P2), (29, P3)):
        h = (h ^ h >> shift) * factor & MASK
    return h ^ h >> 32


def weight(a, b):
    """Returns MurmurHash3's finaliser of a XOR b."""
    h = a ^ b
    h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD & MASK
    h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return h ^ h >> 33


def route(vector):
    """Returns the hashes of application and series, candidates (heaviest first) and queue."""
    application = xxh64(vector["application"].encode(), 0)
    queues = sorted(
        (queue["broker"].encode(), queue["id"], xxh64(queue["broker"].encode(), queue["id"]))
        for queue in vector["topic"]
    )
    # sorted() is stable.
    heaviest = sorted(queues, key=lambda queue: -weight(application, queue[2]))
    candidates = heaviest[: vector["queues"]]
    seed = (application + 8 * vector["kind"] + vector["status"]) & MASK
    series = xxh64(vector["name"].encode(), seed)
    if vector["spread"] == "random":
        decides = int(vector["spanId"], 16) ^ int(vector["traceId"][16:], 16)
    else:
        decides = series
    chosen = max(candidates, key=lambda queue: weight(decides, queue[2]))
    return {
        "applicationHash": "%016x" % application,
        "seriesHash": "%016x" % series,
        "candidates": ["%s-%d" % (queue[0].decode(), queue[1]) for queue in candidates],
        "queue": "%s-%d" % (chosen[0].decode(), chosen[1]),
    }


def topic(*brokers):
    return [{"broker": name, "id": i} for name, count in brokers for i in range(count)]


def golden():
    topics = [
        topic(("broker-a", 1)),
        topic(("broker-a", 8)),
        topic(("broker-b", 3), ("broker-a", 3)),
        topic(("größe-支付", 5), ("broker-a", 16)),
    ]
    applications = ["checkout", "unknown_service", "支付-service", "a", "order." * 12 + "😀"]
    spans = [
        ("GET /", 0, 0),
        ("", 1, 1),
        ("SELECT orders", 2, 2),
        ("POST /users/{id}/orders/{order}/items/{item}", 3, 0),
        ("größe", 4, 1),
        ("HikariDataSource.getConnection", 5, 2),
    ]
    number = 0
    for queues in topics:
        for application in applications:
            for k, spread in ((1, "series"), (2, "series"), (5, "series"), (4, "random")):
                name, kind, status = spans[number % len(spans)]
                number += 1
                vector = {
                    "topic": queues,
                    "application": application,
                    "queues": k,
                    "spread": spread,
                    "name": name,
                    "kind": kind,
                    "status": status,
                    "traceId": "%032x" % (number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % (1 << 128)),
                    "spanId": "%016x" % (number * 0xD1B54A32D192ED03 & MASK),
                }
                yield {**vector, **route(vector)}


def main(arguments):
    if arguments[0] == "--write":
        with open(arguments[1], "w", encoding="utf-8") as out:
            lines = (json.dumps(vector, ensure_ascii=False) for vector in golden())
            out.write("[\n" + ",\n".join(lines) + "\n]\n")
        return 0
    with open(arguments[0], encoding="utf-8") as given:
        vectors = json.load(given)
    different = 0
    for number, vector in enumerate(vectors):
        for key, value in route(vector).items():
            if vector[key] != value:
                different += 1
                print("vector %d: %s is %s, not %s" % (number, key, value, vector[key]))
    print("%d vectors, %d differences" % (len(vectors), different))
    return 1 if different or not vectors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
