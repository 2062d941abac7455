package org.traceetl.server.ozhera;

import java.util.List;

/**
 * The kinds of work that OzHera has metrics of. A span is of one of them, or in no metric but the
 * count of all spans.
 */
public enum SpanType {
  HTTP_SERVER("http", Bounds.CALLS),
  HTTP_CLIENT("http_client", Bounds.CALLS),
  DUBBO_CONSUMER("dubbo_consumer", Bounds.CALLS),
  DUBBO_PROVIDER("dubbo_provider", Bounds.CALLS),
  GRPC_CLIENT("grpc_client", Bounds.CALLS),
  GRPC_SERVER("grpc_server", Bounds.CALLS),
  REDIS("redis", Bounds.REDIS),
  MYSQL("mysql", Bounds.SQL),
  MONGODB("mongodb", Bounds.SQL),
  ROCKETMQ_PRODUCER("rocketmq_producer", Bounds.CALLS),
  ROCKETMQ_CONSUMER("rocketmq_consumer", Bounds.CALLS),
  CUSTOM_METHOD("customize_method", Bounds.CALLS);

  /** Upper bounds of the finite buckets, milliseconds, rising; from OzHera's metric service. */
  private static final class Bounds {
    private static final List<Double> CALLS = OzheraConfig.boundsMillis();
    private static final List<Double> REDIS = List.of(0.1, 0.5, 1.0, 10.0, 100.0, 500.0, 1_000.0);
    private static final List<Double> SQL = List.of(10.0, 50.0, 100.0, 500.0, 1_000.0);
  }

  /** One above the highest {@link #number}: as many as a series' kind can tell apart. */
  public static final int NUMBERS = 16;

  private static final SpanType[] BY_NUMBER = new SpanType[NUMBERS];

  static {
    for (SpanType type : values()) {
      BY_NUMBER[type.number()] = type;
    }
  }

  private final String documentType;
  private final List<Double> boundsMillis;

  SpanType(String documentType, List<Double> boundsMillis) {
    this.documentType = documentType;
    this.boundsMillis = boundsMillis;
  }

  /** What stands for it where a series has its kind: 1 to 15. Kept in journals. */
  public int number() {
    return ordinal() + 1;
  }

  /** The type with this number; null for none. */
  public static SpanType of(int number) {
    return number >= 0 && number < NUMBERS ? BY_NUMBER[number] : null;
  }

  /** What documents of slow and failed spans call it. */
  public String documentType() {
    return documentType;
  }

  /** Upper bounds of the finite buckets of its histograms, milliseconds, rising. */
  public List<Double> boundsMillis() {
    return boundsMillis;
  }
}
