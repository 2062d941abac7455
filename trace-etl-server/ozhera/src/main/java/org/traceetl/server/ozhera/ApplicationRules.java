package org.traceetl.server.ozhera;

/**
 * What holds for the spans of one application. A span is slow if it lasts longer than so many
 * microseconds.
 *
 * @param excluded whether none of them counts
 * @param httpMicros threshold of HTTP
 * @param dubboMicros threshold of Dubbo and gRPC
 * @param mysqlMicros threshold of MySQL
 * @param otherMicros threshold of RocketMQ and custom methods: Dubbo's for all applications
 * @param mongodbMicros threshold of MongoDB: MySQL's for all applications
 * @param spanNames spans of such names do not count
 * @param httpServerMethods HTTP server spans of such methods do not count
 * @param threads spans of such threads do not count
 * @param urls spans of such URLs do not count
 * @param userAgents spans of such user agents do not count
 * @param statements spans of such database statements do not count
 * @param collapsesServerIp whether all hosts are one
 * @param collapsesRpcMethod whether all methods of a service are one
 * @param collapsesSql whether all statements are one
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
  /** Of applications that do not count. */
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

  /** From which duration on a span that did not fail is slow, microseconds, not included. */
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
