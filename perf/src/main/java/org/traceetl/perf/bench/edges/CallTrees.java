package org.traceetl.perf.bench.edges;

import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Span.SpanKind;
import io.opentelemetry.proto.trace.v1.Status;
import io.opentelemetry.proto.trace.v1.Status.StatusCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.traceetl.perf.bench.load.OtlpExport;

/**
 * Random call trees of 50 applications: calls, databases in old and new conventions, messages with
 * one and several consumers, retries, fan-out, missing parents and partners, late ones, sampled
 * ones. They are the OTLP requests of the applications. Equal seeds give equal trees, except for
 * the times.
 */
public final class CallTrees {
  /** When a span is sent. */
  public enum Phase {
    FIRST,
    /** In time for a partner of the first phase. */
    LATE,
    /** When a partner of the first phase has expired. */
    TOO_LATE
  }

  /**
   * A request of one application.
   *
   * @param bytes an {@code ExportTraceServiceRequest}
   */
  public record Export(String application, byte[] bytes) {}

  /** What an application does for a span, and how often of a hundred. */
  private enum Action {
    CALL(37),
    LATE_CALL(6),
    TOO_LATE_CALL(3),
    RETRY(6),
    SAMPLED_CALL(3),
    OLD_DATABASE(8),
    NEW_DATABASE(8),
    NAMED_DATABASE(3),
    CACHE(4),
    MESSAGE(9),
    CLIENT_MESSAGE(4),
    UNRECEIVED_MESSAGE(2),
    UNANSWERED_CALL(2),
    NAMED_UNANSWERED_CALL(2),
    UNNAMED_UNANSWERED_CALL(1),
    MISSING_PARENT(2);

    private final int percent;

    Action(int percent) {
      this.percent = percent;
    }
  }

  private static final int APPLICATIONS = 50;

  /** The number of an application without a name. */
  private static final int NAMELESS = APPLICATIONS;

  /** The application of {@link #further}. */
  private static final int CLOCK = APPLICATIONS + 1;

  private static final int MOST_DEPTH = 4;
  private static final int MOST_CHILDREN = 4;
  private static final int MOST_CONSUMERS = 3;
  private static final int SPANS_PER_EXPORT = 128;
  private static final int FURTHER_SPANS = 16;
  private static final int FAILED_PERCENT = 5;

  /** Trees that begin with a message, of a hundred. */
  private static final int MESSAGES_PERCENT = 10;

  /** An application has as many callees. Their distances are unequal, and so are consumers'. */
  private static final int[] CALLEES = {1, 7, 19};

  private static final int[] CONSUMERS = {2, 11, 23};

  private static final long NO_PARENT = 0;
  private static final String USER = "user";
  private static final String UNKNOWN = "unknown";

  /** Half of the spans are sampled. */
  private static final String SAMPLED = "ot=th:8";

  private static final int SAMPLED_WEIGHT = 2;

  private final SplittableRandom random;
  private final Expected expected = new Expected();
  private final Map<Phase, SortedMap<Integer, List<Span>>> spans = new EnumMap<>(Phase.class);
  private long traceHigh;
  private long traceLow;

  /**
   * @param trees the number of trees, each a trace
   */
  public CallTrees(long seed, int trees) {
    random = new SplittableRandom(seed);
    for (Phase phase : Phase.values()) {
      spans.put(phase, new TreeMap<>());
    }
    for (int tree = 0; tree < trees; tree++) {
      beginTrace();
      int application = random.nextInt(APPLICATIONS);
      SpanKind kind =
          random.nextInt(100) < MESSAGES_PERCENT
              ? SpanKind.SPAN_KIND_CONSUMER
              : SpanKind.SPAN_KIND_SERVER;
      children(application, root(application, kind), 0);
    }
    beginTrace();
    Span.Builder nameless = span(SpanKind.SPAN_KIND_SERVER, NO_PARENT);
    expected.onlyOurs(Rule.NO_SERVICE_NAME, edge(USER, NAMELESS, Edge.VIRTUAL), atServer(nameless));
    add(Phase.FIRST, NAMELESS, nameless);
  }

  public Expected expected() {
    return expected;
  }

  /** Returns the requests of a phase, in the order in which they must be sent. */
  public List<Export> exports(Phase phase) {
    List<Export> exports = new ArrayList<>();
    spans
        .get(phase)
        .forEach((application, all) -> {
          for (int from = 0; from < all.size(); from += SPANS_PER_EXPORT) {
            int to = Math.min(from + SPANS_PER_EXPORT, all.size());
            exports.add(export(application, all.subList(from, to)));
          }
        });
    return exports;
  }

  /** Returns a request of one more application, which is expected from now on. */
  public Export further() {
    List<Span> roots = new ArrayList<>();
    for (int i = 0; i < FURTHER_SPANS; i++) {
      beginTrace();
      Span.Builder root = span(SpanKind.SPAN_KIND_SERVER, NO_PARENT);
      expectRoot(CLOCK, root);
      roots.add(root.build());
    }
    return export(CLOCK, roots);
  }

  private static Export export(int application, List<Span> spans) {
    Resource.Builder resource = Resource.newBuilder();
    if (application != NAMELESS) {
      resource.addAttributes(OtlpExport.attribute("service.name", name(application)));
    }
    ScopeSpans.Builder scope = ScopeSpans.newBuilder().addAllSpans(spans);
    return new Export(name(application), OtlpExport.request(resource, scope));
  }

  private static String name(int application) {
    return switch (application) {
      case NAMELESS -> "unknown_service";
      case CLOCK -> "clock";
      default -> "application-" + application;
    };
  }

  private void beginTrace() {
    traceHigh = random.nextLong();
    traceLow = random.nextLong();
  }

  /** Returns the number of another application. */
  private static int next(int application, int distance) {
    return (application + distance) % APPLICATIONS;
  }

  private int callee(int application) {
    return next(application, CALLEES[random.nextInt(CALLEES.length)]);
  }

  private long root(int application, SpanKind kind) {
    Span.Builder root = span(kind, NO_PARENT);
    expectRoot(application, root);
    return add(Phase.FIRST, application, root);
  }

  private void expectRoot(int application, Span.Builder root) {
    Request request = atServer(root);
    Edge edge = edge(USER, application, Edge.VIRTUAL);
    expected.differs(Rule.ABSENT_END, edge, request, request.withZeros());
  }

  private void children(int application, long parent, int depth) {
    int number = depth == MOST_DEPTH ? 0 : random.nextInt(MOST_CHILDREN + 1);
    for (int i = 0; i < number; i++) {
      act(action(), application, parent, depth + 1);
    }
  }

  private Action action() {
    int left = random.nextInt(100);
    for (Action action : Action.values()) {
      left -= action.percent;
      if (left < 0) {
        return action;
      }
    }
    throw new IllegalStateException("the percentages are less than 100");
  }

  private void act(Action action, int application, long parent, int depth) {
    switch (action) {
      case CALL -> call(application, parent, depth);
      case LATE_CALL -> lateCall(application, parent);
      case TOO_LATE_CALL -> tooLateCall(application, parent);
      case RETRY -> {
        unanswered(application, parent, "server.address", "host-" + callee(application));
        call(application, parent, depth);
      }
      case SAMPLED_CALL -> sampledCall(application, parent);
      case OLD_DATABASE ->
          database(application, parent, "orders", "orders", "db.system=mysql", "db.name=orders");
      case NEW_DATABASE ->
          database(
              application,
              parent,
              "stock",
              UNKNOWN,
              "db.system.name=postgresql",
              "db.namespace=stock",
              "server.address=database-1");
      case NAMED_DATABASE ->
          database(
              application, parent, "ledger", "entries", "db.name=entries", "peer.service=ledger");
      case CACHE ->
          database(
              application, parent, "cache-1", "redis", "db.system=redis", "net.peer.name=cache-1");
      case MESSAGE -> message(application, parent, depth);
      case CLIENT_MESSAGE -> clientMessage(application, parent);
      case UNRECEIVED_MESSAGE -> unreceived(application, parent);
      case UNANSWERED_CALL -> unanswered(application, parent, "server.address", "example.org");
      case NAMED_UNANSWERED_CALL -> unanswered(application, parent, "peer.service", "bank");
      case UNNAMED_UNANSWERED_CALL -> unnamed(application, parent);
      case MISSING_PARENT -> missingParent(application, depth);
    }
  }

  private void call(int application, long parent, int depth) {
    int callee = callee(application);
    Span.Builder client = span(SpanKind.SPAN_KIND_CLIENT, parent);
    Span.Builder server = answer(client, SpanKind.SPAN_KIND_SERVER);
    expected.same(edge(application, callee, Edge.CALL), both(client, server));
    add(Phase.FIRST, application, client);
    children(callee, add(Phase.FIRST, callee, server), depth);
  }

  private void lateCall(int application, long parent) {
    int callee = callee(application);
    Span.Builder client = span(SpanKind.SPAN_KIND_CLIENT, parent);
    Span.Builder server = answer(client, SpanKind.SPAN_KIND_SERVER);
    expected.same(edge(application, callee, Edge.CALL), both(client, server));
    boolean isClientLate = random.nextBoolean();
    add(isClientLate ? Phase.LATE : Phase.FIRST, application, client);
    add(isClientLate ? Phase.FIRST : Phase.LATE, callee, server);
  }

  private void tooLateCall(int application, long parent) {
    Span.Builder client = unanswered(application, parent, "peer.service", "legacy");
    add(Phase.TOO_LATE, callee(application), answer(client, SpanKind.SPAN_KIND_SERVER));
    expected.unpaired();
  }

  private void sampledCall(int application, long parent) {
    int callee = callee(application);
    Span.Builder client = span(SpanKind.SPAN_KIND_CLIENT, parent).setTraceState(SAMPLED);
    Span.Builder server = answer(client, SpanKind.SPAN_KIND_SERVER).setTraceState(SAMPLED);
    Request request = both(client, server);
    expected.differs(
        Rule.WEIGHT, edge(application, callee, Edge.CALL), request.times(SAMPLED_WEIGHT), request);
    add(Phase.FIRST, application, client);
    add(Phase.FIRST, callee, server);
  }

  /**
   * Adds a call of a database.
   *
   * @param our its name in trace-etl
   * @param their its name in the Collector
   * @param attributes each as {@code key=value}
   */
  private void database(
      int application, long parent, String our, String their, String... attributes) {
    Span.Builder client = span(SpanKind.SPAN_KIND_CLIENT, parent);
    boolean isDatabaseOfCollector = false;
    for (String attribute : attributes) {
      String[] parts = attribute.split("=");
      client.addAttributes(OtlpExport.attribute(parts[0], parts[1]));
      isDatabaseOfCollector |= parts[0].equals("db.name");
    }
    Request request = atClient(client);
    Edge edge = edge(application, our, Edge.DATABASE);
    if (!isDatabaseOfCollector) {
      expected.onlyOurs(Rule.DATABASE_KEYS, edge, request);
      expected.onlyCollectors(
          Rule.DATABASE_KEYS, edge(application, their, Edge.VIRTUAL), request.withZeros());
    } else if (our.equals(their)) {
      expected.differs(Rule.DATABASE_DURATION, edge, request, request.withClientsAtServer());
    } else {
      expected.onlyOurs(Rule.DATABASE_NAME, edge, request);
      expected.onlyCollectors(
          Rule.DATABASE_NAME,
          edge(application, their, Edge.DATABASE),
          request.withClientsAtServer());
    }
    add(Phase.FIRST, application, client);
  }

  /** Adds a message to one or several other applications. */
  private void message(int application, long parent, int depth) {
    Span.Builder producer = produced(parent);
    List<Integer> consumers =
        IntStream.range(0, 1 + random.nextInt(MOST_CONSUMERS))
            .map(i -> next(application, CONSUMERS[i]))
            .boxed()
            .toList();
    int counted = countedByCollector(application, consumers);
    add(Phase.FIRST, application, producer);
    for (int consumer : consumers) {
      Span.Builder received = answer(producer, SpanKind.SPAN_KIND_CONSUMER);
      if (consumers.size() > 1) {
        // Failed consumers that the Collector forgets may fail its request.
        received.clearStatus();
      }
      Edge edge = edge(application, consumer, Edge.MESSAGE);
      if (consumer == counted) {
        expected.same(edge, both(producer, received));
      } else {
        expected.onlyOurs(Rule.CONSUMERS, edge, both(producer, received));
      }
      children(consumer, add(Phase.FIRST, consumer, received), depth);
    }
  }

  /**
   * Returns the consumer whose span is an edge of the Collector: the last one before the producer,
   * which replaced the earlier ones, or the first one after it. Spans are sent in the order of
   * their applications.
   */
  private static int countedByCollector(int producer, List<Integer> consumers) {
    return consumers.stream()
        .filter(consumer -> consumer < producer)
        .max(Comparator.naturalOrder())
        .orElseGet(() -> consumers.stream().min(Comparator.naturalOrder()).orElseThrow());
  }

  private void clientMessage(int application, long parent) {
    int consumer = next(application, CONSUMERS[0]);
    Span.Builder client = span(SpanKind.SPAN_KIND_CLIENT, parent);
    Span.Builder received = answer(client, SpanKind.SPAN_KIND_CONSUMER);
    Request request = both(client, received);
    Edge edge = edge(application, consumer, Edge.MESSAGE);
    if (application < consumer) {
      expected.same(edge, request);
    } else {
      expected.onlyOurs(Rule.CONNECTION_TYPE, edge, request);
      expected.onlyCollectors(
          Rule.CONNECTION_TYPE, edge(application, consumer, Edge.CALL), request);
    }
    add(Phase.FIRST, application, client);
    add(Phase.FIRST, consumer, received);
  }

  private void unreceived(int application, long parent) {
    Span.Builder producer = produced(parent);
    expectPeer(application, "orders", atClient(producer));
    add(Phase.FIRST, application, producer);
  }

  private Span.Builder produced(long parent) {
    return span(SpanKind.SPAN_KIND_PRODUCER, parent)
        .addAttributes(OtlpExport.attribute("messaging.system", "kafka"))
        .addAttributes(OtlpExport.attribute("messaging.destination.name", "orders"));
  }

  /** Adds a call whose server sends no span. */
  private Span.Builder unanswered(int application, long parent, String key, String value) {
    Span.Builder client =
        span(SpanKind.SPAN_KIND_CLIENT, parent).addAttributes(OtlpExport.attribute(key, value));
    Request request = atClient(client);
    if (key.equals("peer.service")) {
      Edge edge = edge(application, value, Edge.VIRTUAL);
      expected.differs(Rule.ABSENT_END, edge, request, request.withZeros());
    } else {
      expectPeer(application, value, request);
    }
    add(Phase.FIRST, application, client);
    return client;
  }

  /** Expects a request to a peer whose name the Collector does not read. */
  private void expectPeer(int application, String peer, Request request) {
    expected.onlyOurs(Rule.PEER_NAME, edge(application, peer, Edge.VIRTUAL), request);
    expected.onlyCollectors(
        Rule.PEER_NAME, edge(application, UNKNOWN, Edge.VIRTUAL), request.withZeros());
  }

  private void unnamed(int application, long parent) {
    Span.Builder client = span(SpanKind.SPAN_KIND_CLIENT, parent);
    expected.onlyCollectors(
        Rule.UNNAMED, edge(application, UNKNOWN, Edge.VIRTUAL), atClient(client).withZeros());
    expected.unpaired();
    add(Phase.FIRST, application, client);
  }

  private void missingParent(int application, int depth) {
    int callee = callee(application);
    Span.Builder server = span(SpanKind.SPAN_KIND_SERVER, random.nextLong());
    expected.unpaired();
    children(callee, add(Phase.FIRST, callee, server), depth);
  }

  private static Edge edge(int client, int server, String type) {
    return edge(name(client), server, type);
  }

  private static Edge edge(String client, int server, String type) {
    return new Edge(client, name(server), type);
  }

  private static Edge edge(int client, String server, String type) {
    return new Edge(name(client), server, type);
  }

  private static Request both(Span.Builder client, Span.Builder server) {
    return new Request(isFailed(client, server), nanos(server), nanos(client));
  }

  private static Request atServer(Span.Builder server) {
    return new Request(isFailed(server), nanos(server), Request.UNKNOWN);
  }

  private static Request atClient(Span.Builder client) {
    return new Request(isFailed(client), Request.UNKNOWN, nanos(client));
  }

  private static boolean isFailed(Span.Builder... ends) {
    return Stream.of(ends)
        .anyMatch(end -> end.getStatus().getCode() == StatusCode.STATUS_CODE_ERROR);
  }

  private static long nanos(Span.Builder span) {
    return span.getEndTimeUnixNano() - span.getStartTimeUnixNano();
  }

  /** Returns a span of the trace, of 0.1 ms to 20 s. */
  private Span.Builder span(SpanKind kind, long parent) {
    long nanos = (long) Math.pow(10, 5 + 5.3 * random.nextDouble());
    long endNanos = System.currentTimeMillis() * 1_000_000;
    Span.Builder span =
        Span.newBuilder()
            .setTraceId(OtlpExport.id(traceHigh, traceLow))
            .setSpanId(OtlpExport.id(random.nextLong()))
            .setName("operation-" + random.nextInt(5))
            .setKind(kind)
            .setStartTimeUnixNano(endNanos - nanos)
            .setEndTimeUnixNano(endNanos);
    if (parent != NO_PARENT) {
      span.setParentSpanId(OtlpExport.id(parent));
    }
    if (random.nextInt(100) < FAILED_PERCENT) {
      span.setStatus(Status.newBuilder().setCode(StatusCode.STATUS_CODE_ERROR));
    }
    return span;
  }

  private Span.Builder answer(Span.Builder caller, SpanKind kind) {
    return span(kind, NO_PARENT).setParentSpanId(caller.getSpanId());
  }

  /** Adds a span, and returns its ID. */
  private long add(Phase phase, int application, Span.Builder span) {
    spans.get(phase).computeIfAbsent(application, any -> new ArrayList<>()).add(span.build());
    return span.getSpanId().asReadOnlyByteBuffer().getLong();
  }
}
