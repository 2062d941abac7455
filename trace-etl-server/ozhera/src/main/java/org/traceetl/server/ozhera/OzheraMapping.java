package org.traceetl.server.ozhera;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.traceetl.server.decode.AttributeKeys;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.decode.SpanColumns;
import org.traceetl.server.decode.SpanMapping;
import org.traceetl.server.decode.Texts;
import org.traceetl.server.series.SeriesTable;

/**
 * Maps spans to OzHera's types, outcomes and labels, in the form of {@link SeriesLayout}. A batch
 * uses one version of the rules. Allocates nothing for a span once its application is known. Not
 * thread-safe.
 */
final class OzheraMapping implements SpanMapping {
  private static final int NONE = SpanColumns.NONE;
  private static final long NANOS_PER_MICRO = 1_000;

  /** OzHera cuts a document's statement that is longer than this to one character less. */
  private static final int MAX_STATEMENT_CHARS = 200;

  private static final byte[] DEFAULT_ENV = Labels.ascii("default_env");
  private static final byte[] ANY_SERVER_IP = Labels.ascii("10.0.0.0");
  private static final byte[] ANY_RPC_METHOD = Labels.ascii("default");
  private static final byte[] ANY_SQL = Labels.ascii("default select");
  private static final byte[] NO_CODE = Labels.ascii("500");
  private static final byte[] EMPTY = {};

  private static final int ENV = 0;
  private static final int ENV_ID = 1;
  private static final int IP = 2;
  private static final int HOST_IP = 3;
  private static final AttributeKeys RESOURCE =
      new AttributeKeys(List.of("service.env", "service.env.id", "ip", "host.ip"));

  private static final AttributeKeys KEYS = Fact.keys().and(RESOURCE);

  private final Supplier<OzheraRules> inForce;
  private final RulesByName rulesByName = new RulesByName();
  private final SpanFacts facts = new SpanFacts();
  private final Labels labels = new Labels();
  private final int[] ofResource = new int[RESOURCE.size()];

  // Of the batch.
  private Texts texts;
  private SpanColumns spans;
  private ApplicationRules rules;
  private int serverIp;
  private int serverEnv;
  private int serverEnvId;

  // Texts that the message lacks, created when they are first needed.
  private int anyRpcMethod;
  private int anySql;
  private int noCode;
  private int empty;

  /** By span: its name as a text. */
  private int[] nameOf = new int[512];

  /**
   * @param rules returns the rules in force; called once for each batch
   */
  OzheraMapping(Supplier<OzheraRules> rules) {
    inForce = rules;
  }

  @Override
  public AttributeKeys keys() {
    return KEYS;
  }

  @Override
  public void map(BatchDecoder batch) {
    texts = batch.texts();
    spans = batch.columns();
    int application = batch.application();
    rules = rulesByName.of(inForce.get(), texts, application);
    boolean counts = texts.length(application) > 0 && !rules.excluded();
    if (counts) {
      begin(batch);
    }
    int end = spans.size();
    int firstGroup = spans.firstGroup();
    for (int span = 0; span < end; span++) {
      if (!counts || !map(span, span >= firstGroup)) {
        spans.leaveOut(span);
      }
    }
  }

  private void begin(BatchDecoder batch) {
    facts.begin(batch);
    labels.begin(texts);
    anyRpcMethod = NONE;
    anySql = NONE;
    noCode = NONE;
    empty = NONE;
    if (nameOf.length < spans.size()) {
      nameOf = new int[Math.max(spans.size(), nameOf.length * 2)];
    }
    Arrays.fill(ofResource, NONE);
    for (int i = 0; i < batch.resourceAttributeCount(); i++) {
      int key = batch.resourceAttributeKey(i);
      int number = RESOURCE.find(texts.buffer(key), texts.offset(key), texts.length(key));
      if (number != AttributeKeys.NONE) {
        ofResource[number] = batch.resourceAttributeValue(i);
      }
    }
    serverIp =
        rules.collapsesServerIp()
            ? labels.constant(ANY_SERVER_IP)
            : isEmpty(ofResource[IP]) ? firstOfList(ofResource[HOST_IP]) : ofResource[IP];
    serverEnv = isEmpty(ofResource[ENV]) ? labels.constant(DEFAULT_ENV) : ofResource[ENV];
    serverEnvId = ofResource[ENV_ID];
  }

  private boolean isEmpty(int text) {
    return text == NONE || texts.length(text) == 0;
  }

  /** Returns the first value of a JSON list, or the text if it is not a list. */
  private int firstOfList(int text) {
    if (text == NONE) {
      return NONE;
    }
    byte[] buffer = texts.buffer(text);
    int offset = texts.offset(text);
    int length = texts.length(text);
    if (length < 2 || buffer[offset] != '[' || buffer[offset + 1] != '"') {
      return text;
    }
    int to = 2;
    while (to < length && buffer[offset + to] != '"') {
      to++;
    }
    return texts.part(text, 2, to - 2);
  }

  /** Returns whether a span or group is in a metric of its type. */
  private boolean map(int span, boolean isGroup) {
    int name = spans.name(span);
    nameOf[span] = name;
    if (texts.length(name) == 0 || rules.spanNames().areIn(texts, name)) {
      return false;
    }
    facts.read(span);
    SpanType type = facts.type();
    if (type == null || isExcluded(type, name)) {
      return false;
    }
    setLabels(span, type, name);
    int series = seriesName(type, name);
    if (isGroup) {
      mapGroup(span, type, series);
      return true;
    }
    long micros = spans.durationNanos(span) / NANOS_PER_MICRO;
    spans.setDurationNanos(span, micros * NANOS_PER_MICRO);
    int outcome =
        facts.failed
            ? SeriesLayout.FAILED
            : micros > rules.slowAboveMicros(type) ? SeriesLayout.SLOW : SeriesLayout.FAST;
    spans.setSeries(span, series, SeriesLayout.kindAndStatus(type, outcome));
    return true;
  }

  /** Splits a group with slow and other spans into two. */
  private void mapGroup(int group, SpanType type, int series) {
    spans.roundGroupDown(group, NANOS_PER_MICRO);
    spans.setSeries(
        group,
        series,
        SeriesLayout.kindAndStatus(type, facts.failed ? SeriesLayout.FAILED : SeriesLayout.FAST));
    if (facts.failed || type == SpanType.REDIS) {
      return;
    }
    int slow = spans.splitGroup(group, rules.slowAboveMicros(type) * NANOS_PER_MICRO);
    if (slow != NONE) {
      spans.setSeries(slow, series, SeriesLayout.kindAndStatus(type, SeriesLayout.SLOW));
    }
  }

  private boolean isExcluded(SpanType type, int name) {
    return isIn(rules.threads(), facts.thread)
        || isIn(rules.urls(), facts.url)
        || isIn(rules.userAgents(), facts.userAgent)
        || isIn(rules.statements(), facts.statement)
        || type == SpanType.HTTP_SERVER && isIn(rules.httpServerMethods(), method(name));
  }

  private boolean isIn(Substrings parts, int text) {
    return text != NONE && parts.areIn(texts, text);
  }

  /** Returns OzHera's method: the span's name, unless an attribute states it. */
  private int method(int name) {
    if (facts.rpcMethod == NONE) {
      return name;
    }
    if (!rules.collapsesRpcMethod()) {
      return facts.rpcMethod;
    }
    if (anyRpcMethod == NONE) {
      anyRpcMethod = labels.constant(ANY_RPC_METHOD);
    }
    return anyRpcMethod;
  }

  private int seriesName(SpanType type, int name) {
    int text =
        switch (type) {
          case REDIS -> command(name);
          case MYSQL, MONGODB -> labels.safe(facts.operation);
          case ROCKETMQ_PRODUCER, ROCKETMQ_CONSUMER -> labels.safe(facts.topic);
          default -> safeMethod(name);
        };
    return text == NONE ? empty() : text;
  }

  private int safeMethod(int name) {
    int method = method(name);
    return method == anyRpcMethod ? method : labels.safe(method);
  }

  private int command(int name) {
    int command = isEmpty(facts.statement) ? NONE : labels.command(facts.statement);
    return command == NONE ? labels.cut(name) : command;
  }

  private int empty() {
    if (empty == NONE) {
      empty = labels.constant(EMPTY);
    }
    return empty;
  }

  private void setLabels(int span, SpanType type, int name) {
    int target = NONE;
    int detail = NONE;
    int errorCode = NONE;
    switch (type) {
      case HTTP_SERVER, HTTP_CLIENT -> errorCode = facts.failed ? errorCode() : NONE;
      case DUBBO_CONSUMER, DUBBO_PROVIDER, GRPC_CLIENT, GRPC_SERVER -> target = service();
      case REDIS -> {
        target = labels.safe(facts.host);
        detail = facts.port;
      }
      case MYSQL -> {
        target = dataSource();
        detail = sql();
      }
      case MONGODB -> {
        target = labels.connection(facts.connection);
        detail = sql();
      }
      default -> {}
    }
    spans.setDimension(span, SeriesLayout.SERVER_IP, serverIp);
    spans.setDimension(span, SeriesLayout.SERVER_ENV, serverEnv);
    spans.setDimension(span, SeriesLayout.SERVER_ENV_ID, serverEnvId);
    spans.setDimension(span, SeriesLayout.TARGET, target);
    spans.setDimension(span, SeriesLayout.DETAIL, detail);
    spans.setDimension(span, SeriesLayout.ERROR_CODE, errorCode);
  }

  private int dataSource() {
    return labels.pair(labels.connection(facts.connection), labels.connection(facts.database));
  }

  private int service() {
    return labels.safe(facts.rpcService);
  }

  private int sql() {
    if (!rules.collapsesSql()) {
      return labels.cut(facts.statement);
    }
    if (anySql == NONE) {
      anySql = labels.constant(ANY_SQL);
    }
    return anySql;
  }

  private int errorCode() {
    if (!isEmpty(facts.statusCode)) {
      return facts.statusCode;
    }
    if (noCode == NONE) {
      noCode = labels.constant(NO_CODE);
    }
    return noCode;
  }

  @Override
  public Map<String, String> documentAttributes(BatchDecoder batch, int span, int maxBytes) {
    SpanType type = SpanType.of(SeriesTable.kind(spans.kindAndStatus(span)));
    int name = nameOf[span];
    facts.read(span);
    Map<String, String> attributes = new HashMap<>();
    attributes.put("type", type.documentType());
    attributes.put("errorCode", text(batch, errorCode(), maxBytes));
    put(attributes, "host", text(batch, serverIp, maxBytes));
    put(attributes, "serverEnv", text(batch, serverEnv, maxBytes));
    put(attributes, "url", url(batch, type, name, maxBytes));
    put(attributes, "dataSource", source(batch, type, maxBytes));
    return Map.copyOf(attributes);
  }

  private static void put(Map<String, String> attributes, String key, String value) {
    if (!value.isEmpty()) {
      attributes.put(key, value);
    }
  }

  private String url(BatchDecoder batch, SpanType type, int name, int maxBytes) {
    return switch (type) {
      case DUBBO_CONSUMER, DUBBO_PROVIDER, GRPC_CLIENT, GRPC_SERVER -> {
        String service = text(batch, service(), maxBytes);
        String method = text(batch, safeMethod(name), maxBytes);
        yield service.isEmpty() ? method : service + "/" + method;
      }
      case REDIS -> wholeCommand(batch, name, maxBytes);
      case MYSQL, MONGODB -> statement(batch, maxBytes);
      default -> text(batch, safeMethod(name), maxBytes);
    };
  }

  /** Returns the command, which OzHera cuts in labels only. */
  private String wholeCommand(BatchDecoder batch, int name, int maxBytes) {
    int command = isEmpty(facts.statement) ? NONE : labels.wholeCommand(facts.statement);
    return text(batch, command == NONE ? labels.safe(name) : command, maxBytes);
  }

  private String statement(BatchDecoder batch, int maxBytes) {
    if (rules.collapsesSql()) {
      return text(batch, sql(), maxBytes);
    }
    if (facts.statement == NONE) {
      return "";
    }
    return labels.statement(facts.statement, MAX_STATEMENT_CHARS, maxBytes);
  }

  private String source(BatchDecoder batch, SpanType type, int maxBytes) {
    return switch (type) {
      case REDIS ->
          isEmpty(facts.host) && isEmpty(facts.port)
              ? ""
              : text(batch, labels.safe(facts.host), maxBytes)
                  + ":"
                  + text(batch, facts.port, maxBytes);
      case MYSQL -> text(batch, dataSource(), maxBytes);
      case MONGODB -> text(batch, labels.connection(facts.connection), maxBytes);
      default -> "";
    };
  }

  private static String text(BatchDecoder batch, int text, int maxBytes) {
    return text == NONE ? "" : batch.text(text, maxBytes);
  }
}
