/*
 * The message on topic trace-spans: the spans of one resource for one queue.
 * Encoded with Thrift's compact protocol, no envelope around it.
 *
 * Every string of a batch stands once in its dictionary; all other places hold indexes into it.
 * A reader may rely on the dictionary standing before everything that points into it.
 */
namespace java org.traceetl.proto.thrift
namespace py traceetl.proto

/**
 * Version of this format; a reader refuses what it does not know. Fields 1 to 9 of a batch mean the
 * same in all versions, and stand before the others: who refuses a batch can tell whose spans are
 * lost, and how many.
 */
const i32 VERSION = 1

/** Version of a batch that has groups: a reader that does not know them must not miscount it. */
const i32 VERSION_WITH_GROUPS = 2

struct Span {
  /** Big-endian: trace ID (16 bytes), span ID (8), and for a span with a parent its span ID (8): 24 or 32 bytes. */
  1: required binary ids
  /** Dictionary index of the span's name. */
  2: required i32 name
  /** As in OTLP: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  3: required i8 kind
  /** As in OTLP: 0 unset, 1 ok, 2 error. */
  4: required i8 status
  /** Start in nanoseconds after the batch's base_unix_nanos; may be negative. */
  5: required i64 start_delta_nanos
  /** At least 0. */
  6: required i64 duration_nanos
  /** Key, value, key, value: dictionary indexes. Numbers and booleans as text. */
  7: optional list<i32> attributes
  /** Rejection threshold T of the W3C tracestate's ot=th, 0 <= T < 2^56: the span stands for 2^56 / (2^56 - T) spans. */
  8: optional i64 sampling_threshold
  /** Dictionary index of the status message. */
  9: optional i32 status_message
  /**
   * Events that are to be counted, one behind the other: dictionary index of the name, number of
   * attributes, then key, value, key, value: dictionary indexes. A reader that does not know them
   * counts spans as before.
   */
  10: optional list<i32> events
}

/**
 * Spans that are counted and no more: alike in all but their duration, events included, without
 * identity or place in time, so that none of them can be found or shown as an example. Fields as in
 * Span.
 */
struct SpanGroup {
  1: required i32 name
  2: required i8 kind
  3: required i8 status
  4: optional list<i32> attributes
  5: optional i64 sampling_threshold
  /** One for each span, 1 at least: exact for whatever buckets the reader has. */
  6: required list<i64> durations_nanos
  /** Events of each of its spans. */
  7: optional list<i32> events
}

struct SpanBatch {
  /** 2 with groups, else 1. */
  1: required i32 version
  /** The batch's name, part 1: the agent, 16 bytes, stable across its restarts. */
  2: required binary agent
  /** The batch's name, part 2: a number the agent raises at each start. */
  3: required i64 epoch
  /** The batch's name, part 3: counts 0, 1, 2, ... for each queue within the epoch. */
  4: required i64 sequence
  /** Number of spans, those in groups among them, so that the books of a rejected batch balance. */
  5: required i32 span_count
  /** UTF-8 strings, each once. */
  6: required list<binary> dictionary
  /** Dictionary index of the application (service.name). */
  7: required i32 application
  /** Attributes of the resource: key, value, key, value: dictionary indexes. */
  8: optional list<i32> resource
  /** Base of the spans' start times, nanoseconds since 1970. */
  9: required i64 base_unix_nanos
  10: required list<Span> spans
  11: optional list<SpanGroup> groups
}
