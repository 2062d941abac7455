package org.traceetl.server.ozhera;

/**
 * The rules for the spans of one application. A span is slow if it lasts longer than its threshold
 * in microseconds.
 *
 * @param excluded whether none of its spans counts
 * @param httpMicros threshold of HTTP
 * @param dubboMicros threshold of Dubbo and gRPC
 * @param mysqlMicros threshold of MySQL
 * @param otherMicros threshold of RocketMQ and custom methods: Dubbo's for all applications
 * @param mongodbMicros threshold of MongoDB: MySQL's for all applications
 * @param spanNames names of spans that do not count
 * @param httpServerMethods methods of HTTP server spans that do not count
 * @param threads threads whose spans do not count
 * @param urls URLs whose spans do not count
 * @param userAgents user agents whose spans do not count
 * @param statements database statements whose spans do not count
 * @param collapsesServerIp whether all hosts have the same label
 * @param collapsesRpcMethod whether all methods of a service have the same label
 * @param collapsesSql whether all statements have the same label
 */
record ApplicationRules(
    boolean excluded,
    long httpMicros,
    long dubboMicros,
    long mysqlMicros,
    long otherMicros,
    long mongodbMicros,
    Substrings spanNames,
    Substrings httpServerMethods,
    Substrings threads,
    Substrings urls,
    Substrings userAgents,
    Substrings statements,
    boolean collapsesServerIp,
    boolean collapsesRpcMethod,
    boolean collapsesSql) {
  /** The rules of excluded applications. */
  static final ApplicationRules EXCLUDED =
      new ApplicationRules(
          true,
          0,
          0,
          0,
          0,
          0,
          Substrings.NONE,
          Substrings.NONE,
          Substrings.NONE,
          Substrings.NONE,
          Substrings.NONE,
          Substrings.NONE,
          false,
          false,
          false);

  /** Returns the duration in microseconds above which a span that did not fail is slow. */
  long slowAboveMicros(SpanType type) {
    return switch (type) {
      case HTTP_SERVER, HTTP_CLIENT -> httpMicros;
      case DUBBO_CONSUMER, DUBBO_PROVIDER, GRPC_CLIENT, GRPC_SERVER -> dubboMicros;
      case MYSQL -> mysqlMicros;
      case MONGODB -> mongodbMicros;
      case ROCKETMQ_PRODUCER, ROCKETMQ_CONSUMER, CUSTOM_METHOD -> otherMicros;
      // OzHera has no metric of slow ones.
      case REDIS -> Long.MAX_VALUE;
    };
  }
}
