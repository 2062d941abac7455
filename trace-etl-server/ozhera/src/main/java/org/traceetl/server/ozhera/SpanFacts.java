package org.traceetl.server.ozhera;

import java.util.Arrays;
import java.util.List;
import org.traceetl.server.decode.AttributeKeys;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.decode.SpanColumns;
import org.traceetl.server.decode.Texts;

/**
 * The facts of one span at a time, as numbers of texts or {@link SpanColumns#NONE}. Of attributes
 * with the same meaning the last one applies, as in OzHera. Keys are looked up once for each batch.
 * Not thread-safe.
 */
final class SpanFacts {
  private static final int NONE = SpanColumns.NONE;
  private static final int STATUS_ERROR = 2;

  /** Systems with a type, by position in {@link #SYSTEMS}. */
  private static final int AOP = 0;

  private static final int DUBBO = 1;
  private static final int GRPC = 2;
  private static final int REDIS = 3;
  private static final int MYSQL = 4;
  private static final int MONGODB = 5;
  private static final int ROCKETMQ = 6;
  private static final int CUSTOM = 7;

  /** OpenTelemetry's name of Dubbo, and the name that OzHera's agent uses. */
  private static final int APACHE_DUBBO = 8;

  private static final AttributeKeys SYSTEMS =
      new AttributeKeys(
          List.of(
              "aop",
              "dubbo",
              "grpc",
              "redis",
              "mysql",
              "mongodb",
              "rocketmq",
              "customizeMethod",
              "apache_dubbo"));

  private static final int SERVER = 2;
  private static final int CLIENT = 3;
  private static final int PRODUCER = 4;
  private static final int CONSUMER = 5;

  /** In OTLP's order. */
  private static final AttributeKeys KINDS =
      new AttributeKeys(
          List.of("unspecified", "internal", "server", "client", "producer", "consumer"));

  private static final Fact[] FACTS = Fact.values();
  private static final byte NOT_LOOKED_UP = -2;
  private static final byte NO_FACT = -1;

  private Texts texts;
  private SpanColumns spans;

  /** By text: the position of its fact. */
  private byte[] factOf = new byte[256];

  private int system;
  private int kind;

  int thread;
  int url;
  int userAgent;
  int statement;
  int rpcMethod;
  int rpcService;
  int operation;
  int database;
  int connection;
  int host;
  int port;
  int topic;
  int statusCode;
  boolean failed;

  /** Starts a batch. */
  void begin(BatchDecoder batch) {
    texts = batch.texts();
    spans = batch.columns();
    int size = texts.size();
    if (factOf.length < size) {
      factOf = new byte[Math.max(size, factOf.length * 2)];
    }
    Arrays.fill(factOf, 0, size, NOT_LOOKED_UP);
  }

  /** Reads a span or group of the batch. */
  void read(int span) {
    system = NONE;
    kind = spans.kind(span);
    thread = NONE;
    url = NONE;
    userAgent = NONE;
    statement = NONE;
    rpcMethod = NONE;
    rpcService = NONE;
    operation = NONE;
    database = NONE;
    connection = NONE;
    host = NONE;
    port = NONE;
    topic = NONE;
    statusCode = NONE;
    failed = false;
    boolean told = false;
    int attributes = spans.attributeCount(span);
    for (int i = 0; i < attributes; i++) {
      int fact = fact(spans.attributeKey(span, i));
      if (fact == NO_FACT) {
        continue;
      }
      int value = spans.attributeValue(span, i);
      switch (FACTS[fact]) {
        case THREAD -> thread = value;
        case HTTP_METHOD -> system = AOP;
        case STATUS_CODE -> statusCode = value;
        case URL -> url = value;
        case USER_AGENT -> userAgent = value;
        case SYSTEM -> system = find(SYSTEMS, value);
        case RPC_METHOD -> rpcMethod = value;
        case RPC_SERVICE -> rpcService = value;
        case KIND -> kind = find(KINDS, value);
        case STATEMENT -> statement = value;
        case OPERATION -> operation = value;
        case DATABASE -> database = value;
        case CONNECTION -> connection = value;
        case HOST -> host = value;
        case PORT -> port = value;
        case TOPIC -> topic = value;
        case ERROR -> {
          told = true;
          failed |= isTrue(value);
        }
        case ANNOTATED -> system = isTrue(value) ? CUSTOM : system;
      }
    }
    failed |= !told && spans.status(span) == STATUS_ERROR;
  }

  private int fact(int key) {
    byte fact = factOf[key];
    if (fact == NOT_LOOKED_UP) {
      Fact found = Fact.of(texts.buffer(key), texts.offset(key), texts.length(key));
      fact = found == null ? NO_FACT : (byte) found.ordinal();
      factOf[key] = fact;
    }
    return fact;
  }

  private int find(AttributeKeys names, int text) {
    return names.find(texts.buffer(text), texts.offset(text), texts.length(text));
  }

  /** Parses a boolean as Java does, ignoring case. */
  private boolean isTrue(int text) {
    byte[] buffer = texts.buffer(text);
    int at = texts.offset(text);
    return texts.length(text) == 4
        && (buffer[at] | 0x20) == 't'
        && (buffer[at + 1] | 0x20) == 'r'
        && (buffer[at + 2] | 0x20) == 'u'
        && (buffer[at + 3] | 0x20) == 'e';
  }

  /** Returns the type of the span; null for none. */
  SpanType type() {
    return switch (system) {
      case AOP -> byKind(SpanType.HTTP_SERVER, SpanType.HTTP_CLIENT);
      case DUBBO, APACHE_DUBBO -> byKind(SpanType.DUBBO_PROVIDER, SpanType.DUBBO_CONSUMER);
      case GRPC -> byKind(SpanType.GRPC_SERVER, SpanType.GRPC_CLIENT);
      case REDIS -> SpanType.REDIS;
      case MYSQL -> SpanType.MYSQL;
      case MONGODB -> SpanType.MONGODB;
      case ROCKETMQ -> byEnd(kind);
      case CUSTOM -> SpanType.CUSTOM_METHOD;
      default -> null;
    };
  }

  private SpanType byKind(SpanType server, SpanType client) {
    return switch (kind) {
      case SERVER -> server;
      case CLIENT -> client;
      default -> null;
    };
  }

  private static SpanType byEnd(int kind) {
    return switch (kind) {
      case PRODUCER -> SpanType.ROCKETMQ_PRODUCER;
      case CONSUMER -> SpanType.ROCKETMQ_CONSUMER;
      default -> null;
    };
  }
}
