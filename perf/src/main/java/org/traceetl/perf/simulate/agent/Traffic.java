package org.traceetl.perf.simulate.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.traceetl.perf.simulate.check.Document;
import org.traceetl.perf.simulate.check.HalfEdge;
import org.traceetl.perf.simulate.check.MeasureTruth;
import org.traceetl.perf.simulate.check.SeriesKey;

/** Random requests of one application, in OTLP's protobuf. */
final class Traffic {
  /** Spans of one name. */
  private record Kind(String name, int kind, String kindName) {}

  private static final List<Kind> KINDS =
      List.of(
          new Kind("GET /items", 2, "SERVER"),
          new Kind("POST /orders", 2, "SERVER"),
          new Kind("select orders", 3, "CLIENT"),
          new Kind("send order", 4, "PRODUCER"),
          new Kind("receive order", 5, "CONSUMER"),
          new Kind("render", 1, "INTERNAL"));
  private static final List<String> STATUSES = List.of("UNSET", "OK", "ERROR");
  private static final int ERROR = 2;

  /** Values of {@link SeriesKey#REGION}; the last one is that of spans without it. */
  private static final List<String> REGIONS = List.of("ap", "eu", "us", "");

  /** Values of {@link MeasureTruth#ATTRIBUTE}; the last one is that of spans without it. */
  private static final List<String> AMOUNTS =
      List.of("0.5", "3", "10", "12.25", "250", "-4", "many", "");

  /** How many spans one stands for, and the threshold in its tracestate; most were not sampled. */
  private static final long[] WEIGHTS = {1, 1, 1, 1, 1, 2, 4, 8};

  private static final String THRESHOLDS = "-----8ce";
  private static final String TRACE_STATE = "ot=th:";

  /** Bits of a span's ID, which is a checksum, that determine its region. */
  private static final int REGION_SHIFT = 40;

  private static final int AMOUNT_SHIFT = 44;
  private static final int WEIGHT_SHIFT = 48;

  /** Series of one application. */
  static int series(boolean withAttributes) {
    return KINDS.size() * STATUSES.size() * (withAttributes ? REGIONS.size() : 1);
  }

  /** Long, so that a broker's absence of minutes fills a part of an agent's spool, or all of it. */
  private static final int[] COMMAND_LINE_BYTES = {100, 800, 4_000, 16_000};

  /**
   * Bytes of a span without its parent, name, attributes and status; all lengths in a span need one
   * byte.
   */
  private static final int SPAN_BYTES = 18 + 10 + 2 + 2 + 9 + 9;

  private static final int PARENT_BYTES = 10;
  private static final int TRACE_STATE_BYTES = 2 + TRACE_STATE.length() + 1;
  private static final int LINK_BYTES = 18 + 10;
  private static final int MOST_SPAN_BYTES = 384;

  private static final int STATUS_BYTES = 4;

  private static final int RESOURCE_ATTRIBUTES = 0x0a;
  private static final int SPAN_ATTRIBUTES = 0x4a;
  private static final byte[] NOTHING = {};

  /** A request and its spans. */
  record Request(byte[] bytes, List<SentSpan> spans) {}

  private final String application;
  private final RandomGenerator random;
  private final byte[] resource;
  private final List<byte[]> names;
  private final boolean hasAttributes;
  private final boolean hasAmounts;
  private final boolean hasWeights;

  /** Null if no span has a parent. */
  private final Calls calls;

  /**
   * The span that handles the latest request; null before the first, or if spans have no parents.
   */
  private Calls.Parent handled;

  private final SeriesKey[][][] series;

  /**
   * @param hasAttributes whether spans have attributes; their other content is the same
   * @param hasAmounts whether most spans have an attribute for measures
   * @param hasWeights whether some spans were sampled, each of a trace of its own
   * @param calls between applications; null for spans without parents
   */
  Traffic(
      String application,
      boolean hasAttributes,
      boolean hasAmounts,
      boolean hasWeights,
      Calls calls,
      RandomGenerator random) {
    this.application = application;
    this.hasAttributes = hasAttributes;
    this.hasAmounts = hasAmounts;
    this.hasWeights = hasWeights;
    this.calls = calls;
    this.random = random;
    int commandLine = COMMAND_LINE_BYTES[random.nextInt(COMMAND_LINE_BYTES.length)];
    resource = resource(application.getBytes(UTF_8), commandLine);
    names = KINDS.stream().map(kind -> kind.name.getBytes(UTF_8)).toList();
    series = new SeriesKey[KINDS.size()][STATUSES.size()][REGIONS.size()];
    for (int kind = 0; kind < KINDS.size(); kind++) {
      for (int status = 0; status < STATUSES.size(); status++) {
        for (int region = 0; region < REGIONS.size(); region++) {
          series[kind][status][region] =
              new SeriesKey(
                  application,
                  KINDS.get(kind).name,
                  "SPAN_KIND_" + KINDS.get(kind).kindName,
                  "STATUS_CODE_" + STATUSES.get(status),
                  REGIONS.get(region));
        }
      }
    }
  }

  private static byte[] resource(byte[] application, int commandLine) {
    byte[] attributes =
        joined(
            attribute("service.name", application),
            attribute("process.command_line", "x".repeat(commandLine).getBytes(UTF_8)));
    return field(0x0a, attributes);
  }

  private static byte[] attribute(String key, byte[] value) {
    return field(RESOURCE_ATTRIBUTES, keyValue(key, value));
  }

  private static byte[] keyValue(String key, byte[] value) {
    return joined(field(0x0a, key.getBytes(UTF_8)), field(0x12, field(0x0a, value)));
  }

  private static byte[] field(int tag, byte[] content) {
    ByteBuffer bytes = ByteBuffer.allocate(1 + lengthBytes(content.length) + content.length);
    length(bytes, tag, content.length);
    return bytes.put(content).array();
  }

  /** Returns the field of an attribute of a span. */
  static byte[] spanAttribute(String key, byte[] value) {
    return field(SPAN_ATTRIBUTES, keyValue(key, value));
  }

  static byte[] joined(byte[] first, byte[] second) {
    return ByteBuffer.allocate(first.length + second.length).put(first).put(second).array();
  }

  /** Writes the tag of a field and its length, in as few bytes as it needs. */
  private static void length(ByteBuffer to, int tag, int length) {
    to.put((byte) tag);
    int rest = length;
    while (rest > 0x7f) {
      to.put((byte) (rest | 0x80));
      rest >>>= 7;
    }
    to.put((byte) rest);
  }

  private static int lengthBytes(int length) {
    return length < 1 << 7 ? 1 : length < 1 << 14 ? 2 : 3;
  }

  /** Returns a request whose spans end now. */
  Request next(int spans, long unixMillis) {
    ByteBuffer content =
        ByteBuffer.allocate(spans * MOST_SPAN_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    List<SentSpan> sent = new ArrayList<>(spans);
    long endNanos = TimeUnit.MILLISECONDS.toNanos(unixMillis);
    for (int i = 0; i < spans; i++) {
      sent.add(span(content, endNanos));
    }
    int scope = content.position();
    int resourceSpans = resource.length + 1 + lengthBytes(scope) + scope;
    ByteBuffer request = ByteBuffer.allocate(1 + lengthBytes(resourceSpans) + resourceSpans);
    length(request, 0x0a, resourceSpans);
    request.put(resource);
    length(request, 0x12, scope);
    request.put(content.flip());
    return new Request(request.array(), sent);
  }

  private SentSpan span(ByteBuffer to, long endNanos) {
    int kind = random.nextInt(KINDS.size());
    int status = random.nextInt(50) == 0 ? ERROR : random.nextInt(2);
    // From a microsecond to four seconds; one in a hundred is slow.
    long nanos = Math.round(1_000 * Math.exp(random.nextDouble() * 13.8));
    if (random.nextInt(100) == 0) {
      nanos = SentSpan.SLOW_NANOS + random.nextLong(3 * SentSpan.SLOW_NANOS);
    }
    long high = random.nextLong();
    long low = random.nextLong() | 1;
    long unixMillis = TimeUnit.NANOSECONDS.toMillis(endNanos);
    Calls.Parent parent = calls == null ? null : parent(KINDS.get(kind).kind, unixMillis);
    if (parent != null) {
      high = parent.traceIdHigh();
      low = parent.traceIdLow();
    }
    long id =
        Document.spanId(
            low,
            application,
            KINDS.get(kind).name,
            KINDS.get(kind).kind,
            status,
            endNanos - nanos,
            nanos);
    byte[] name = names.get(kind);
    int region = hasAttributes ? (int) (id >>> REGION_SHIFT & 3) : REGIONS.size() - 1;
    byte[] attributes = hasAttributes ? attributes(REGIONS.get(region), id) : NOTHING;
    int sample = hasWeights ? (int) (id >>> WEIGHT_SHIFT & 7) : 0;
    boolean isSampled = WEIGHTS[sample] > 1;
    String amount = hasAmounts ? AMOUNTS.get((int) (id >>> AMOUNT_SHIFT & 7)) : "";
    if (!amount.isEmpty()) {
      byte[] ofAmount = spanAttribute(MeasureTruth.ATTRIBUTE, amount.getBytes(UTF_8));
      attributes = joined(attributes, ofAmount);
    }
    List<HalfEdge> halves = List.of();
    List<Calls.Parent> links = List.of();
    if (calls != null) {
      int its = KINDS.get(kind).kind;
      Calls.Peer peer = calls.peer(its);
      Calls.Parent own = new Calls.Parent(high, low, id);
      attributes = joined(attributes, peer.attribute());
      links = calls.links(its, unixMillis);
      String values = calls.values(REGIONS.get(region), application);
      boolean failed = status == ERROR;
      halves = new ArrayList<>();
      for (Calls.Parent linked : links) {
        halves.add(
            Calls.half(application, its, own, linked, peer, values, failed, endNanos, nanos));
      }
      HalfEdge half =
          Calls.half(application, its, own, parent, peer, values, failed, endNanos, nanos);
      if (links.isEmpty() && half != null) {
        halves.add(half);
      }
      calls.made(its, peer, own, unixMillis);
      if (Calls.isCallee(its)) {
        handled = own;
      }
    }
    int size =
        SPAN_BYTES
            + (parent == null ? 0 : PARENT_BYTES)
            + (isSampled ? TRACE_STATE_BYTES : 0)
            + name.length
            + attributes.length
            + links.size() * (2 + LINK_BYTES)
            + (status == 0 ? 0 : STATUS_BYTES);
    length(to, 0x12, size);
    length(to, 0x0a, 16);
    to.order(ByteOrder.BIG_ENDIAN).putLong(high).putLong(low);
    length(to, 0x12, 8);
    to.putLong(id);
    if (isSampled) {
      to.put(field(0x1a, (TRACE_STATE + THRESHOLDS.charAt(sample)).getBytes(UTF_8)));
    }
    if (parent != null) {
      length(to, 0x22, 8);
      to.putLong(parent.spanId());
    }
    to.order(ByteOrder.LITTLE_ENDIAN);
    length(to, 0x2a, name.length);
    to.put(name);
    length(to, 0x30, KINDS.get(kind).kind);
    to.put((byte) 0x39).putLong(endNanos - nanos);
    to.put((byte) 0x41).putLong(endNanos);
    to.put(attributes);
    for (Calls.Parent link : links) {
      length(to, 0x6a, LINK_BYTES);
      length(to, 0x0a, 16);
      to.order(ByteOrder.BIG_ENDIAN).putLong(link.traceIdHigh()).putLong(link.traceIdLow());
      length(to, 0x12, 8);
      to.putLong(link.spanId()).order(ByteOrder.LITTLE_ENDIAN);
    }
    if (status > 0) {
      length(to, 0x7a, 2);
      length(to, 0x18, status);
    }
    return new SentSpan(
        series[kind][status][region],
        high,
        low,
        id,
        nanos,
        size,
        document(kind, status, endNanos - nanos, nanos),
        halves,
        amount,
        WEIGHTS[sample]);
  }

  /** Returns the parent of a span, of another process or of this one; null for none. */
  private Calls.Parent parent(int kind, long unixMillis) {
    if (Calls.isCallee(kind)) {
      return calls.answered(kind, unixMillis);
    }
    return random.nextBoolean() ? handled : null;
  }

  /** Returns the fields of a span's attributes, at most 40 bytes. */
  private static byte[] attributes(String region, long id) {
    byte[] path = Document.path(id).getBytes(UTF_8);
    byte[] ofPath = spanAttribute(Document.PATH, path);
    return region.isEmpty()
        ? ofPath
        : joined(spanAttribute(SeriesKey.REGION, region.getBytes(UTF_8)), ofPath);
  }

  private Document document(int kind, int status, long startNanos, long nanos) {
    return status == ERROR || nanos >= SentSpan.SLOW_NANOS
        ? new Document(
            application,
            KINDS.get(kind).name,
            KINDS.get(kind).kind,
            status,
            startNanos,
            nanos,
            status == ERROR ? "error" : "slow")
        : null;
  }
}
