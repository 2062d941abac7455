package org.traceetl.server.ozhera;

/**
 * OzHera's names of the metrics of a span type and of their labels.
 *
 * @param total counter of all spans
 * @param success counter of spans that did not fail
 * @param slow counter of slow spans that did not fail; null if OzHera has none
 * @param error counter of failed spans
 * @param errorCode whether that counter has the label {@code errorCode}
 * @param durations histogram
 * @param withoutName whether a second histogram lacks the first label
 * @param name label of the series' name
 * @param target label of its target; null for none
 * @param detail label of its detail; null for none
 */
public record TypeMetrics(
    String total,
    String success,
    String slow,
    String error,
    boolean errorCode,
    String durations,
    boolean withoutName,
    String name,
    String target,
    String detail) {
  private static final String METHOD_NAME = "methodName";
  private static final String SERVICE_NAME = "serviceName";

  /** Returns the names for a type. */
  public static TypeMetrics of(SpanType type) {
    return switch (type) {
      case HTTP_SERVER ->
          new TypeMetrics(
              "aopTotalMethodCount",
              "aopSuccessMethodCount",
              "httpSlowQuery",
              "httpError",
              true,
              "aopMethodTimeCount",
              true,
              METHOD_NAME,
              null,
              null);
      case HTTP_CLIENT ->
          new TypeMetrics(
              "aopClientTotalMethodCount",
              "aopClientSuccessMethodCount",
              "httpClientSlowQuery",
              "httpClientError",
              true,
              "aopClientMethodTimeCount",
              true,
              METHOD_NAME,
              null,
              null);
      case DUBBO_CONSUMER ->
          new TypeMetrics(
              "dubboBisTotalCount",
              "dubboBisSuccessCount",
              "dubboConsumerSlowQuery",
              "dubboConsumerError",
              false,
              "dubboConsumerTimeCost",
              true,
              METHOD_NAME,
              SERVICE_NAME,
              null);
      case DUBBO_PROVIDER ->
          new TypeMetrics(
              "dubboMethodCalledCount",
              "dubboMethodCalledSuccessCount",
              "dubboProviderSlowQuery",
              "dubboProviderError",
              false,
              "dubboProviderCount",
              true,
              METHOD_NAME,
              SERVICE_NAME,
              null);
      case GRPC_CLIENT -> grpc("grpcClient");
      case GRPC_SERVER -> grpc("grpcServer");
      case REDIS ->
          new TypeMetrics(
              "RedisTotalCount",
              "RedisSuccessCount",
              null,
              "redisError",
              false,
              "RedisMethodTimeCost",
              false,
              "method",
              "host",
              "port");
      case MYSQL ->
          new TypeMetrics(
              "sqlTotalCount",
              "sqlSuccessCount",
              "dbSlowQuery",
              "dbError",
              false,
              "sqlTotalTimer",
              false,
              "sqlMethod",
              "dataSource",
              "sql");
      case MONGODB ->
          new TypeMetrics(
              "mongoTotalCount",
              "mongoSuccessCount",
              "mongodbSlowQuery",
              "mongodbError",
              false,
              "mongoTotalTimer",
              false,
              "method",
              "dataSource",
              "command");
      case ROCKETMQ_PRODUCER -> regular("rocketmqProducer", "topic");
      case ROCKETMQ_CONSUMER -> regular("rocketmqConsumer", "topic");
      case CUSTOM_METHOD -> regular("CustomizeMethod", METHOD_NAME);
    };
  }

  private static TypeMetrics grpc(String prefix) {
    return new TypeMetrics(
        prefix,
        prefix + "Success",
        prefix + "SlowQuery",
        prefix + "Error",
        false,
        prefix + "TimeCost",
        false,
        METHOD_NAME,
        SERVICE_NAME,
        null);
  }

  private static TypeMetrics regular(String prefix, String name) {
    return new TypeMetrics(
        prefix + "TotalCount",
        prefix + "SuccessCount",
        prefix + "SlowQuery",
        prefix + "Error",
        false,
        prefix + "TimeCost",
        false,
        name,
        null,
        null);
  }
}
