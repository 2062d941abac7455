/*
 * What the writer of a later version may send to today's reader: the fields of span_batch.thrift
 * and unknown fields of every type. All are optional, so that a test can omit any of them.
 */
namespace java org.traceetl.proto.extended

struct Leaf {
  1: optional i32 number
  2: optional string text
}

struct Unknown {
  1: optional bool yes
  2: optional bool no
  3: optional i8 small
  4: optional i16 short_number
  5: optional i32 number
  6: optional i64 long_number
  7: optional double real
  8: optional string text
  9: optional list<bool> flags
  10: optional list<i64> numbers
  11: optional set<string> texts
  12: optional map<string, list<Leaf>> leaves
  13: optional map<i32, i32> empty
  14: optional Leaf leaf
  40: optional list<list<double>> reals
  41: optional uuid id
}

struct Span {
  1: optional binary ids
  2: optional i32 name
  3: optional i8 kind
  4: optional i8 status
  5: optional i64 start_delta_nanos
  6: optional i64 duration_nanos
  7: optional list<i32> attributes
  8: optional i64 sampling_threshold
  9: optional i32 status_message
  10: optional list<i32> events
  12: optional bool flag
  200: optional Unknown after
}

struct SpanGroup {
  1: optional i32 name
  2: optional i8 kind
  3: optional i8 status
  4: optional list<i32> attributes
  5: optional i64 sampling_threshold
  6: optional list<i64> durations_nanos
  7: optional list<i32> events
  9: optional bool flag
  200: optional Unknown after
}

struct SpanBatch {
  1: optional i32 version
  2: optional binary agent
  3: optional i64 epoch
  4: optional i64 sequence
  5: optional i32 span_count
  6: optional list<binary> dictionary
  7: optional i32 application
  8: optional list<i32> resource
  9: optional i64 base_unix_nanos
  10: optional list<Span> spans
  11: optional list<SpanGroup> groups
  12: optional i64 demand
  13: optional list<i32> group_keys
  14: optional Unknown after
  15: optional list<Span> samples
  16: optional list<i32> sampled
  17: optional i64 sample_threshold
  18: optional list<i64> sizes
  3000: optional list<Unknown> far_after
}

/** A batch as readers know it that were built before the demand. */
struct BatchBeforeDemand {
  1: optional i32 version
  2: optional binary agent
  3: optional i64 epoch
  4: optional i64 sequence
  5: optional i32 span_count
  6: optional list<binary> dictionary
  7: optional i32 application
  8: optional list<i32> resource
  9: optional i64 base_unix_nanos
  10: optional list<Span> spans
  11: optional list<SpanGroup> groups
}
