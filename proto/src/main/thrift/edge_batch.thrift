/*
 * The message on topic trace-edges: half-edges of one agent for one queue.
 * It is encoded with Thrift's compact protocol, without an envelope.
 *
 * A half-edge is one end of a call between processes. Its two halves have the same key: a hash of
 * the trace ID and of the span ID of the client side.
 *
 * The dictionary contains each string of a batch once; other fields contain indexes into it. Fields
 * 1 to 6 are those of span_batch.thrift and precede the groups, and readers rely on that; field IDs
 * 7 to 9 are not used.
 */
namespace java org.traceetl.proto.thrift
namespace py traceetl.proto

/**
 * Version of this format, which differs from all versions of span_batch.thrift: readers of spans
 * refuse half-edges, and readers of half-edges refuse spans. A reader refuses unknown versions.
 */
const i32 VERSION_OF_EDGES = 3

/** Half-edges that differ in nothing but key, check and duration. */
struct EdgeGroup {
  /** Dictionary index of the application (service.name). */
  1: required i32 application
  /** Dictionary index of the namespace (service.namespace). */
  2: optional i32 namespace_name
  /** Whether the spans failed; absent is false. */
  3: optional bool failed
  /** 1 messaging system, 2 database; absent is 0, none. */
  4: optional i8 connection_type
  /** Dictionary index of the peer's name, as the span has it. */
  5: optional i32 peer
  /**
   * Rejection threshold T of the W3C tracestate's ot=th, 0 <= T < 2^56: each half represents
   * 2^56 / (2^56 - T) halves.
   */
  6: optional i64 sampling_threshold
  /** Key, value, key, value: dictionary indexes; at most 128 pairs. */
  7: optional list<i32> dimensions
  /** 1 client, 2 server, 3 producer, 4 consumer. */
  8: required i8 side
  /**
   * Big-endian, for each half that waits for its partner: key (8 bytes), check (2). Each is made of
   * three 64-bit numbers: high and low half of the trace ID, and the span ID of the client side.
   *
   *   key = m(m(m(high + g) ^ low) ^ span)
   *   check = the highest 16 bits of f(f(f(span + g) ^ high) ^ low)
   *
   * g is 9e3779b97f4a7c15. Arithmetic is modulo 2^64, and shifts are unsigned.
   *
   *   m: x ^= x >> 30, x *= bf58476d1ce4e5b9, x ^= x >> 27, x *= 94d049bb133111eb, x ^= x >> 31
   *   f: x ^= x >> 33, x *= ff51afd7ed558ccd, x ^= x >> 33, x *= c4ceb9fe1a85ec53, x ^= x >> 33
   */
  9: optional binary keys
  /**
   * One for each half, at least one; at least 0: of the halves in keys, in order, then of the halves
   * that need no partner.
   */
  10: required list<i64> durations_nanos
  /**
   * Of sides 3 and 4, one for each half in keys: the end of the producer's or the start of the
   * consumer's span, microseconds since 1970, as the difference to the one before. 0 is unknown.
   */
  11: optional list<i64> message_steps_micros
}

struct EdgeBatch {
  /** 3. */
  1: required i32 version
  /** Part 1 of the batch's name: the agent, 16 bytes, stable across its restarts. */
  2: required binary agent
  /** Part 2 of the batch's name: a number that rises with each start of the agent. */
  3: required i64 epoch
  /** Part 3 of the batch's name: 0, 1, 2, ... for each queue within the epoch. */
  4: required i64 sequence
  /** Number of half-edges, at most 65,536; with it the books of a rejected batch balance. */
  5: required i32 half_count
  /** UTF-8 strings, without repetition. */
  6: required list<binary> dictionary
  10: required list<EdgeGroup> groups
}
