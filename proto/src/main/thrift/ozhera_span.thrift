/*
 * One span: the message on the topic between Apache OzHera's agents and its metric service.
 * It is encoded with Thrift's compact protocol, without an envelope. Names, spelling and field
 * numbers are OzHera's. No field is required.
 */
namespace java org.traceetl.proto.thrift.ozhera

enum TAttributeType {
  STRING = 1
  BOOLEAN = 2
  LONG = 3
  DOUBLE = 4
  STRING_ARRAY = 5
  BOOLEAN_ARRAY = 6
  LONG_ARRAY = 7
  DOUBLE_ARRAY = 8
}

enum TStatus {
  OK = 1
  UNSET = 2
  ERROR = 3
}

enum TKind {
  INTERNAL = 1
  SERVER = 2
  CLIENT = 3
  PRODUCER = 4
  CONSUMER = 5
}

struct TTraceState {
  1: optional map<string, string> entries
}

struct TSpanContext {
  1: optional string traceId
  2: optional string spanId
  3: optional byte traceFlags
  4: optional TTraceState traceState
  5: optional bool remote
}

struct TExtra {
  /** Address of the host. */
  1: optional string ip
  2: optional string hostname
  /** Name of the application. */
  3: optional string serviceName
}

struct TAttributeKey {
  1: optional TAttributeType type
  2: optional string value
}

/** The field of the key's type is set; the others are absent. */
struct TValue {
  1: optional string stringValue
  2: optional bool boolValue
  3: optional i64 longValue
  4: optional double doubleValue
  5: optional list<string> stringArrayValue
  6: optional list<bool> boolArrayValue
  7: optional list<i64> longArrayValue
  8: optional list<double> doubleArrayValue
}

/** Two lists of equal length: a key and its value have the same index. */
struct TAttributes {
  1: optional list<TAttributeKey> keys
  2: optional list<TValue> values
}

struct TResource {
  1: optional TAttributes attributes
}

struct TInstrumentationLibraryInfo {
  1: optional string name
  2: optional string version
}

struct TEvent {
  1: optional string name
  2: optional TAttributes attributes
  3: optional i64 epochNanos
  4: optional i32 totalAttributeCount
}

struct TLink {
  1: optional TSpanContext spanContext
  2: optional TAttributes attributes
  3: optional i32 totalAttributeCount
}

struct TSpanData {
  /** 32 hexadecimal digits. */
  1: optional string traceId
  /** 16 hexadecimal digits. */
  2: optional string spanId
  3: optional bool sampled
  4: optional TTraceState traceState
  5: optional TSpanContext parentSpanContext
  6: optional TResource resouce
  7: optional TInstrumentationLibraryInfo instrumentationLibraryInfo
  8: optional string name
  9: optional TKind kind
  /** Nanoseconds since 1970. */
  10: optional i64 startEpochNanos
  11: optional TAttributes attributes
  12: optional list<TEvent> events
  13: optional list<TLink> links
  14: optional TStatus status
  /** Nanoseconds since 1970. */
  15: optional i64 endEpochNanos
  16: optional bool ended
  17: optional i32 totalRecordedEvents
  18: optional i32 totalRecordedLinks
  19: optional i32 totalAttributeCount
  20: optional TExtra extra
}
