/*
 * The message on topic trace-spans: the spans of one resource for one queue.
 * It is encoded with Thrift's compact protocol, without an envelope.
 *
 * The dictionary contains each string of a batch once; other fields contain indexes into it.
 * The dictionary precedes all fields with indexes, and readers rely on that. Fields 12 and 13 of a
 * batch precede its spans, so that readers know them before the groups; readers refuse others. They
 * follow field 9, and the header of field 10 has its ID in full. Fields 15 to 17 count nowhere;
 * only readers that need a sample read them. Field 18 has numbers of the counted spans; readers
 * that do not need them may skip it.
 *
 * A message may also be a bundle of several batches of its queue, each with its own name, which
 * begins with bytes that begin no batch. Big-endian: 00 'T' 'E' 'B', version 1 (1 byte), number of
 * batches (2), for each batch its application (length 2, UTF-8), number of spans (4) and length
 * (4), then the batches up to the end.
 */
namespace java org.traceetl.proto.thrift
namespace py traceetl.proto

/**
 * Version of this format. A reader refuses unknown versions. Fields 1 to 9 of a batch have the same
 * meaning in all versions and precede the others, so that a reader that refuses a batch can report
 * its application and its number of spans. Version 3 is edge_batch.thrift.
 */
const i32 VERSION = 1

/** Version of a batch with groups, so that readers without groups refuse it and do not miscount. */
const i32 VERSION_WITH_GROUPS = 2

struct Span {
  /** Big-endian: trace ID (16 bytes), span ID (8), and the parent's span ID (8) if there is one. */
  1: required binary ids
  /** Dictionary index of the span's name. */
  2: required i32 name
  /** OTLP's number: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  3: required i8 kind
  /** OTLP's number: 0 unset, 1 ok, 2 error. */
  4: required i8 status
  /** Start in nanoseconds after the batch's base_unix_nanos; may be negative. */
  5: required i64 start_delta_nanos
  /** At least 0. */
  6: required i64 duration_nanos
  /** Key, value, key, value: dictionary indexes. Numbers and booleans are text. */
  7: optional list<i32> attributes
  /**
   * Rejection threshold T of the W3C tracestate's ot=th, 0 <= T < 2^56: the span represents
   * 2^56 / (2^56 - T) spans.
   */
  8: optional i64 sampling_threshold
  /** Dictionary index of the status message. */
  9: optional i32 status_message
  /**
   * Events to count, one after the other: dictionary index of the name, number of attributes, then
   * key, value, key, value: dictionary indexes. Readers without events ignore the field.
   */
  10: optional list<i32> events
}

/**
 * Spans that are only counted. They differ in nothing but their duration. They have no identity and
 * no start, so none of them can be searched or shown as an exemplar. Fields are those of Span.
 */
struct SpanGroup {
  1: required i32 name
  2: required i8 kind
  3: required i8 status
  4: optional list<i32> attributes
  5: optional i64 sampling_threshold
  /** One for each span, at least one; exact for any buckets of the reader. */
  6: required list<i64> durations_nanos
  /** Events of each of its spans. */
  7: optional list<i32> events
  /**
   * Of sampled spans: how many ordered pairs of different spans are of one trace. Such spans were
   * sampled together. At most n (n - 1) for n spans. Absent: 0. Readers that do not know it skip it.
   */
  8: optional i64 pairs
}

struct SpanBatch {
  /** 2 with groups, else 1. */
  1: required i32 version
  /** Part 1 of the batch's name: the agent, 16 bytes, stable across its restarts. */
  2: required binary agent
  /** Part 2 of the batch's name: a number that rises with each start of the agent. */
  3: required i64 epoch
  /** Part 3 of the batch's name: 0, 1, 2, ... for each queue within the epoch. */
  4: required i64 sequence
  /** Number of spans, including those in groups; with it the books of a rejected batch balance. */
  5: required i32 span_count
  /** UTF-8 strings, without repetition. */
  6: required list<binary> dictionary
  /** Dictionary index of the application (service.name). */
  7: required i32 application
  /** Attributes of the resource: key, value, key, value: dictionary indexes. */
  8: optional list<i32> resource
  /** Start times of spans are relative to it; nanoseconds since 1970. */
  9: required i64 base_unix_nanos
  10: required list<Span> spans
  11: optional list<SpanGroup> groups
  /**
   * Version of the servers' demand by which the spans were grouped, above 0. Groups may lack
   * attributes of their spans: all but those of group_keys. Absent or 0: groups have all attributes.
   */
  12: optional i64 demand
  /**
   * Keys of the attributes that groups have if their spans have them: dictionary indexes, at most
   * 1,024. Only with a demand.
   */
  13: optional list<i32> group_keys
  /**
   * Whole copies of spans that are in groups by the demand, for estimates of what groups lack. They
   * were chosen by sample_threshold, and their sampling_threshold is the greater of both: its
   * reciprocal weight applies to estimates only. Each is counted in its group.
   */
  15: optional list<Span> samples
  /**
   * Members of the same sample among the batch's spans: ascending places in the list spans. Their
   * threshold as members is the greater of their sampling_threshold and sample_threshold.
   */
  16: optional list<i32> sampled
  /** Threshold T of the sample, 0 <= T < 2^56: it has the spans whose trace's randomness is >= T. */
  17: optional i64 sample_threshold
  /**
   * Bytes of spans as the agent received them, only if servers need them: one number for each span
   * in spans, in order, then for each group in groups, in order, the sum of its spans. A span has
   * at most 2^24: a larger one counts as that. 0 is unknown. A sampling threshold does not multiply
   * them, and samples have none.
   */
  18: optional list<i64> sizes
}
