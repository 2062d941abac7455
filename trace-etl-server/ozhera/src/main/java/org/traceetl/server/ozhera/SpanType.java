package org.traceetl.server.ozhera;

import java.util.List;

/**
 * The kinds of work with metrics in OzHera. A span without a type is only in the count of all
 * spans.
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

  /**
   * Upper bounds of the finite buckets in milliseconds, ascending; from OzHera's metric service.
   */
  private static final class Bounds {
    private static final List<Double> CALLS = OzheraConfig.boundsMillis();
    private static final List<Double> REDIS = List.of(0.1, 0.5, 1.0, 10.0, 100.0, 500.0, 1_000.0);
    private static final List<Double> SQL = List.of(10.0, 50.0, 100.0, 500.0, 1_000.0);
  }

  /** Limit of {@link #number}: the number of kinds that a series can have. */
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

  /**
   * Returns the number that represents the type as the kind of a series, 1 to 15. Stored in
   * journals.
   */
  public int number() {
    return ordinal() + 1;
  }

  /** Returns the type with this number; null for none. */
  public static SpanType of(int number) {
    return number >= 0 && number < NUMBERS ? BY_NUMBER[number] : null;
  }

  /** Returns the type's name in documents of slow and failed spans. */
  public String documentType() {
    return documentType;
  }

  /** Returns the upper bounds of the finite buckets in milliseconds, ascending. */
  public List<Double> boundsMillis() {
    return boundsMillis;
  }
}
