package org.traceetl.perf.systest.ozhera;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.proto.thrift.ozhera.TAttributes;
import org.traceetl.proto.thrift.ozhera.TSpanData;

/**
 * Computes what OzHera's metric service, without its faults, would write to Prometheus and
 * Elasticsearch for given spans. It is written from knowledge of that service only, and shares no
 * code with the implementation that it checks. Thread-safe.
 *
 * <p>If a required text is missing, OzHera throws and drops the span; the oracle counts the span
 * without that label.
 */
final class Oracle {
  private static final double[] CALLS = {
    50, 100, 150, 200, 250, 300, 400, 500, 700, 1_000, 2_000, 3_000, 5_000
  };
  private static final double[] REDIS = {0.1, 0.5, 1, 10, 100, 500, 1_000};
  private static final double[] SQL = {10, 50, 100, 500, 1_000};

  /** Texts that may be long are cut to one character less. */
  private static final int MOST_LABEL_CHARACTERS = 100;

  private static final int MOST_URL_CHARACTERS = 200;

  private final String env;
  private final String domain;
  private final Rules rules;
  private final Map<MetricSample, Long> counters = new HashMap<>();
  private final Map<MetricSample, Observations> histograms = new HashMap<>();
  private final Map<String, ExpectedDocument> documents = new HashMap<>();
  private long spans;

  /**
   * @param env the prefix of all metric names
   * @param domain a field of all documents
   */
  Oracle(String env, String domain, Rules rules) {
    this.env = env;
    this.domain = domain;
    this.rules = rules;
  }

  /** The names of the metrics and documents of one type of call. Null: the name does not exist. */
  private record Kind(
      String documentType,
      double[] bounds,
      String total,
      String success,
      String slow,
      String error,
      String histogram,
      boolean withoutMethod) {}

  /**
   * The values of a histogram.
   *
   * @param boundsMillis the finite bucket bounds, ascending
   */
  record Observations(double[] boundsMillis, List<Double> millis) {
    long atMost(double bound) {
      return millis.stream().filter(value -> value <= bound).count();
    }

    double sum() {
      return millis.stream().mapToDouble(Double::doubleValue).sum();
    }
  }

  private static final Kind HTTP_SERVER =
      kind(
          "http",
          CALLS,
          true,
          "aopTotalMethodCount aopSuccessMethodCount httpSlowQuery httpError aopMethodTimeCount");
  private static final Kind HTTP_CLIENT =
      kind(
          "http_client",
          CALLS,
          true,
          "aopClientTotalMethodCount aopClientSuccessMethodCount httpClientSlowQuery httpClientError aopClientMethodTimeCount");
  private static final Kind DUBBO_CONSUMER =
      kind(
          "dubbo_consumer",
          CALLS,
          true,
          "dubboBisTotalCount dubboBisSuccessCount dubboConsumerSlowQuery dubboConsumerError dubboConsumerTimeCost");
  private static final Kind DUBBO_PROVIDER =
      kind(
          "dubbo_provider",
          CALLS,
          true,
          "dubboMethodCalledCount dubboMethodCalledSuccessCount dubboProviderSlowQuery dubboProviderError dubboProviderCount");
  private static final Kind GRPC_CLIENT =
      kind(
          "grpc_client",
          CALLS,
          false,
          "grpcClient grpcClientSuccess grpcClientSlowQuery grpcClientError grpcClientTimeCost");
  private static final Kind GRPC_SERVER =
      kind(
          "grpc_server",
          CALLS,
          false,
          "grpcServer grpcServerSuccess grpcServerSlowQuery grpcServerError grpcServerTimeCost");
  private static final Kind REDIS_COMMAND =
      kind(
          "redis",
          REDIS,
          false,
          "RedisTotalCount RedisSuccessCount none redisError RedisMethodTimeCost");
  private static final Kind MYSQL =
      kind("mysql", SQL, false, "sqlTotalCount sqlSuccessCount dbSlowQuery dbError sqlTotalTimer");
  private static final Kind MONGODB =
      kind(
          "mongodb",
          SQL,
          false,
          "mongoTotalCount mongoSuccessCount mongodbSlowQuery mongodbError mongoTotalTimer");
  private static final Kind ROCKETMQ_PRODUCER =
      kind(
          "rocketmq_producer",
          CALLS,
          false,
          "rocketmqProducerTotalCount rocketmqProducerSuccessCount rocketmqProducerSlowQuery rocketmqProducerError rocketmqProducerTimeCost");
  private static final Kind ROCKETMQ_CONSUMER =
      kind(
          "rocketmq_consumer",
          CALLS,
          false,
          "rocketmqConsumerTotalCount rocketmqConsumerSuccessCount rocketmqConsumerSlowQuery rocketmqConsumerError rocketmqConsumerTimeCost");
  private static final Kind CUSTOM =
      kind(
          "customize_method",
          CALLS,
          false,
          "CustomizeMethodTotalCount CustomizeMethodSuccessCount CustomizeMethodSlowQuery CustomizeMethodError CustomizeMethodTimeCost");

  /**
   * @param metrics total, success, slow or none, error, histogram
   */
  private static Kind kind(
      String documentType, double[] bounds, boolean withoutMethod, String metrics) {
    String[] names = metrics.split(" ");
    String slow = names[2].equals("none") ? null : names[2];
    return new Kind(
        documentType, bounds, names[0], names[1], slow, names[3], names[4], withoutMethod);
  }

  synchronized void add(TSpanData span) {
    spans++;
    Map<String, String> resource =
        texts(span.isSetResouce() ? span.getResouce().getAttributes() : null);
    String application = span.isSetExtra() ? span.getExtra().getServiceName() : null;
    if (isEmpty(application)) {
      application = resource.get("service.name");
    }
    if (isEmpty(application)) {
      return;
    }
    count(
        MetricSample.of(
            env + "_trace_statistics_span_count_total", Map.of("application", application)));
    Map<String, String> attributes = texts(span.getAttributes());
    if (isExcluded(span, application, attributes)) {
      return;
    }
    new Counted(span, application, attributes, resource).count();
  }

  private boolean isExcluded(TSpanData span, String application, Map<String, String> attributes) {
    return isEmpty(span.getName())
        || hasOneOf(rules.excludedServices(), application)
        || hasOneOf(rules.excludedNames(), span.getName())
        || hasOneOf(rules.excludedThreads(), attributes.get("thread.name"))
        || hasOneOf(rules.excludedUrls(), attributes.get("http.url"))
        || hasOneOf(rules.excludedUserAgents(), attributes.get("http.user_agent"))
        || hasOneOf(rules.excludedStatements(), attributes.get("db.statement"));
  }

  private static boolean hasOneOf(List<String> parts, String text) {
    return text != null && parts.stream().anyMatch(text::contains);
  }

  private static boolean isEmpty(String text) {
    return text == null || text.isEmpty();
  }

  private static String orNone(String text) {
    return text == null ? "" : text;
  }

  /**
   * Returns attributes as texts in their order. The last value of a key applies; empty values are
   * omitted.
   */
  private static Map<String, String> texts(TAttributes attributes) {
    Map<String, String> texts = new LinkedHashMap<>();
    if (attributes == null
        || attributes.getKeysSize() != attributes.getValuesSize()
        || attributes.getKeys() == null) {
      return texts;
    }
    for (int i = 0; i < attributes.getKeysSize(); i++) {
      String key = attributes.getKeys().get(i).getValue();
      var type = attributes.getKeys().get(i).getType();
      var value = attributes.getValues().get(i);
      if (key == null || type == null) {
        continue;
      }
      String text =
          switch (type) {
            case LONG -> String.valueOf(value.getLongValue());
            case BOOLEAN -> String.valueOf(value.isBoolValue());
            case DOUBLE -> String.valueOf(value.getDoubleValue());
            default -> value.getStringValue();
          };
      if (text != null) {
        // A repeated key moves to the end.
        texts.remove(key);
        texts.put(key, text);
      }
    }
    return texts;
  }

  private void count(MetricSample sample) {
    counters.merge(sample, 1L, Long::sum);
  }

  private final class Counted {
    private final TSpanData span;
    private final String application;
    private final Map<String, String> attributes;
    private final boolean degraded;
    private final boolean failed;
    private final BigDecimal millis;
    private final long endMillis;
    private final Map<String, String> common = new HashMap<>();
    private String method;

    Counted(
        TSpanData span,
        String application,
        Map<String, String> attributes,
        Map<String, String> resource) {
      this.span = span;
      this.application = application;
      this.attributes = attributes;
      degraded = rules.degraded().contains(application);
      failed = "true".equalsIgnoreCase(attributes.get("error"));
      long micros = (span.getEndEpochNanos() - span.getStartEpochNanos()) / 1_000;
      millis = BigDecimal.valueOf(Math.max(0, micros), 3);
      endMillis = Math.max(0, span.getStartEpochNanos()) / 1_000_000 + micros / 1_000;
      common.put("application", application.replace('-', '_'));
      String ip = span.isSetExtra() ? span.getExtra().getIp() : null;
      common.put("serverIp", degraded ? "10.0.0.0" : ip);
      String serverEnv = resource.get("service.env");
      common.put("serverEnv", isEmpty(serverEnv) ? "default_env" : serverEnv);
      common.put("serverEnvId", resource.get("service.env.id"));
      method = span.getName();
      if (attributes.containsKey("rpc.method")) {
        method = degraded ? "default" : attributes.get("rpc.method");
      }
    }

    private String type() {
      String type = "";
      for (Map.Entry<String, String> attribute : attributes.entrySet()) {
        switch (attribute.getKey()) {
          case "http.method" -> type = "http";
          case "rpc.system", "db.system", "messaging.system" -> type = attribute.getValue();
          case "hera.annotations" -> {
            if (attribute.getValue().equalsIgnoreCase("true")) {
              type = "custom";
            }
          }
          default -> {
            // The attribute does not define the type.
          }
        }
      }
      return type;
    }

    void count() {
      Rules.Thresholds thresholds = rules.thresholds(application);
      String kind = orNone(attributes.get("span.kind"));
      switch (type() + " " + kind) {
        case "http server" -> {
          if (!hasOneOf(rules.excludedHttpServerMethods(), method)) {
            http(HTTP_SERVER, thresholds.http());
          }
        }
        case "http client" -> http(HTTP_CLIENT, thresholds.http());
        case "dubbo client" -> rpc(DUBBO_CONSUMER, thresholds.dubbo());
        case "dubbo server" -> rpc(DUBBO_PROVIDER, thresholds.dubbo());
        case "grpc client" -> rpc(GRPC_CLIENT, thresholds.dubbo());
        case "grpc server" -> rpc(GRPC_SERVER, thresholds.dubbo());
        case "rocketmq producer" -> messages(ROCKETMQ_PRODUCER);
        case "rocketmq consumer" -> messages(ROCKETMQ_CONSUMER);
        default -> ofAnyKind(thresholds);
      }
    }

    private void ofAnyKind(Rules.Thresholds thresholds) {
      switch (type()) {
        case "redis" -> redis();
        case "mysql" -> mysql(thresholds.mysql());
        case "mongodb" -> mongodb();
        // Applications cannot override this threshold.
        case "custom" ->
            record(CUSTOM, rules.thresholds().dubbo(), Map.of("methodName", method), method, "");
        default -> {
          // The type has no metric.
        }
      }
    }

    private void http(Kind kind, int threshold) {
      record(kind, threshold, Map.of("methodName", method), method, "");
    }

    private void rpc(Kind kind, int threshold) {
      String service = orNone(attributes.get("rpc.service"));
      record(
          kind,
          threshold,
          Map.of("serviceName", service, "methodName", method),
          service.isEmpty() ? method : service + "/" + method,
          "");
    }

    private void messages(Kind kind) {
      String topic = orNone(attributes.get("messaging.destination"));
      // Applications cannot override this threshold.
      record(kind, rules.thresholds().dubbo(), Map.of("topic", topic), method, "");
    }

    private void redis() {
      String statement = orNone(attributes.get("db.statement"));
      String command = statement.replace("?", "").trim().split(" ", 2)[0];
      // If the statement has only parameters, OzHera's name is empty.
      method = command.isEmpty() ? method : command;
      String host = "";
      for (Map.Entry<String, String> attribute : attributes.entrySet()) {
        if (attribute.getKey().equals("net.peer.name")
            || attribute.getKey().equals("net.peer.ip")) {
          host = attribute.getValue();
        }
      }
      String port = orNone(attributes.get("net.peer.port"));
      record(
          REDIS_COMMAND,
          Integer.MAX_VALUE,
          Map.of("method", cut(method, MOST_LABEL_CHARACTERS), "host", host, "port", port),
          method,
          host + ":" + port);
    }

    private void mysql(int threshold) {
      String sql = sql();
      String dataSource =
          DatabaseSecret.hide(orNone(attributes.get("db.connection_string")))
              + "/"
              + orNone(attributes.get("db.name"));
      record(
          MYSQL,
          threshold,
          Map.of(
              "dataSource",
              dataSource,
              "sqlMethod",
              orNone(attributes.get("db.operation")),
              "sql",
              cut(sql, MOST_LABEL_CHARACTERS)),
          cut(sql, MOST_URL_CHARACTERS),
          dataSource);
    }

    private void mongodb() {
      String command = sql();
      String dataSource = DatabaseSecret.hide(orNone(attributes.get("db.connection_string")));
      record(
          MONGODB,
          // Applications cannot override this threshold.
          rules.thresholds().mysql(),
          Map.of(
              "dataSource",
              dataSource,
              "method",
              orNone(attributes.get("db.operation")),
              "command",
              cut(command, MOST_LABEL_CHARACTERS)),
          cut(command, MOST_URL_CHARACTERS),
          dataSource);
    }

    private String sql() {
      return degraded ? "default select" : orNone(attributes.get("db.statement"));
    }

    private static String cut(String text, int characters) {
      return text.length() > characters ? text.substring(0, characters - 1) : text;
    }

    private void record(
        Kind kind, int threshold, Map<String, String> own, String url, String dataSource) {
      Map<String, String> labels = new HashMap<>(common);
      labels.putAll(own);
      String code = orNone(attributes.get("http.status_code"));
      if (code.isEmpty()) {
        code = "500";
      }
      Oracle.this.count(counter(kind.total, labels));
      if (failed) {
        Map<String, String> errorLabels = new HashMap<>(labels);
        if (kind == HTTP_SERVER || kind == HTTP_CLIENT) {
          errorLabels.put("errorCode", code);
        }
        Oracle.this.count(counter(kind.error, errorLabels));
        document(kind, url, dataSource, "error", code);
      } else {
        Oracle.this.count(counter(kind.success, labels));
        if (kind.slow != null && millis.compareTo(BigDecimal.valueOf(threshold)) > 0) {
          Oracle.this.count(counter(kind.slow, labels));
          document(kind, url, dataSource, "timeout", code);
        }
      }
      observe(MetricSample.of(env + "_hera_" + kind.histogram, labels), kind.bounds);
      if (kind.withoutMethod) {
        labels.remove("methodName");
        observe(
            MetricSample.of(env + "_hera_" + kind.histogram + "_without_methodName", labels),
            kind.bounds);
      }
    }

    private MetricSample counter(String name, Map<String, String> labels) {
      return MetricSample.of(env + "_hera_" + name + "_total", labels);
    }

    private void observe(MetricSample histogram, double[] bounds) {
      histograms
          .computeIfAbsent(histogram, ignored -> new Observations(bounds, new ArrayList<>()))
          .millis
          .add(millis.doubleValue());
    }

    private void document(
        Kind kind, String url, String dataSource, String errorType, String errorCode) {
      Map<String, String> fields = new HashMap<>();
      fields.put("domain", domain);
      fields.put("type", kind.documentType);
      fields.put("host", common.get("serverIp"));
      fields.put("url", url);
      fields.put("dataSource", dataSource);
      fields.put("serviceName", common.get("application"));
      fields.put("traceId", span.getTraceId());
      fields.put("timestamp", Long.toString(endMillis));
      fields.put("duration", Double.toString(millis.doubleValue()));
      fields.put("errorType", errorType);
      fields.put("errorCode", errorCode);
      fields.put("serverEnv", common.get("serverEnv"));
      documents.put(span.getTraceId(), ExpectedDocument.of(fields));
    }
  }

  synchronized long spans() {
    return spans;
  }

  /** Returns every sample with its expected total. */
  synchronized Map<MetricSample, Double> samples() {
    Map<MetricSample, Double> samples = new TreeMap<>();
    counters.forEach((counter, count) -> samples.put(counter, (double) count));
    histograms.forEach((histogram, given) -> {
      for (double bound : given.boundsMillis) {
        samples.put(
            histogram.with("_bucket", "le", Double.toString(bound)), (double) given.atMost(bound));
      }
      double all = given.millis.size();
      samples.put(histogram.with("_bucket", "le", "+Inf"), all);
      samples.put(MetricSample.of(histogram.name() + "_count", histogram.labels()), all);
      samples.put(MetricSample.of(histogram.name() + "_sum", histogram.labels()), given.sum());
    });
    return samples;
  }

  /** Returns the values of each histogram, by its name without suffix and its labels. */
  synchronized Map<MetricSample, Observations> histograms() {
    Map<MetricSample, Observations> copy = new TreeMap<>();
    histograms.forEach((histogram, given) ->
        copy.put(histogram, new Observations(given.boundsMillis, List.copyOf(given.millis))));
    return copy;
  }

  /** Returns the documents by trace ID; each slow or failed span must have its own trace. */
  synchronized Map<String, ExpectedDocument> documents() {
    return new HashMap<>(documents);
  }
}
