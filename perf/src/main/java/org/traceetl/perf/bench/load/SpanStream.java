package org.traceetl.perf.bench.load;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntUnaryOperator;
import org.traceetl.proto.SpanBatchWriter;
import org.traceetl.server.config.SeriesConfig;

/**
 * Generates batches like those of a fleet. Applications and their operations are drawn by Zipf
 * shares. Each span has twelve attributes, of which some vary with the span. Durations are
 * log-normal, and by default one span in a hundred failed. Equal seeds give equal streams.
 */
public final class SpanStream {
  public static final int ATTRIBUTES = 12;

  /** Failed spans of a hundred. */
  public static final int FAILED_PERCENT = 1;

  /**
   * Two attributes that vary with the operation and its outcome: 20,000 series of 30 x 50
   * operations.
   */
  public static final List<SeriesConfig.Dimension> DIMENSIONS =
      List.of(
          new SeriesConfig.Dimension("http.request.method", null, null),
          new SeriesConfig.Dimension("http.response.status_code", null, null));

  private static final long AGENT_HIGH = 0x7065_7266_2d61_6765L;
  private static final String[] METHODS = {"GET", "POST", "PUT", "DELETE"};
  private static final String[] STATUS_CODES = {"200", "201", "204", "304", "400", "404", "500"};

  private static final List<String> USUAL_KEYS =
      List.of(
          "http.request.method",
          "http.response.status_code",
          "http.route",
          "url.path",
          "url.scheme",
          "server.address",
          "server.port",
          "client.address",
          "user_agent.original",
          "network.protocol.version",
          "thread.id",
          "thread.name");

  private final int attributes;
  private final int failedPercent;
  private final SplittableRandom random;
  private final SpanBatchWriter writer = new SpanBatchWriter();
  private final double[] applicationShares;
  private final double[] operationShares;
  private final byte[][][] operations;
  private final byte[][][] routes;
  private final byte[][] keys;
  private final byte[][] otherValues;
  private final byte[][] hosts;
  private final byte[][] methods = utf8(METHODS);
  private final byte[][] statusCodes = utf8(STATUS_CODES);
  private final long epoch;
  private long sequence = RenamedBatch.FIRST_SEQUENCE;

  /**
   * @param applications the number of applications
   * @param operations the number of operations of each application
   */
  public SpanStream(long seed, int applications, int operations) {
    this(seed, applications, operations, ATTRIBUTES);
  }

  /**
   * @param attributes of each span: the first of the usual twelve, then others with 20 values
   */
  public SpanStream(long seed, int applications, int operations, int attributes) {
    this(seed, applications, operations, attributes, FAILED_PERCENT);
  }

  SpanStream(long seed, int applications, int operations, int attributes, int failedPercent) {
    this.attributes = attributes;
    this.failedPercent = failedPercent;
    random = new SplittableRandom(seed);
    epoch = seed;
    applicationShares = zipf(applications);
    operationShares = zipf(operations);
    this.operations = new byte[applications][operations][];
    routes = new byte[applications][operations][];
    for (int a = 0; a < applications; a++) {
      for (int o = 0; o < operations; o++) {
        routes[a][o] = utf8("/api/v1/app" + a + "/resource" + o + "/{id}");
        this.operations[a][o] = utf8("GET /api/v1/app" + a + "/resource" + o + "/{id}");
      }
    }
    List<String> names = new ArrayList<>(USUAL_KEYS);
    for (int k = ATTRIBUTES; k < attributes; k++) {
      names.add("some.attribute." + k);
    }
    keys = utf8(names.toArray(String[]::new));
    otherValues = new byte[20][];
    for (int v = 0; v < otherValues.length; v++) {
      otherValues[v] = utf8("some value " + v);
    }
    String[] addresses = new String[64];
    for (int h = 0; h < addresses.length; h++) {
      addresses[h] = "10.0." + h / 8 + "." + h % 8;
    }
    hosts = utf8(addresses);
  }

  /** Returns one message of {@code spans} spans of one application. */
  public byte[] batch(int spans) {
    return batch(draw(applicationShares), spans);
  }

  /** Returns batches whose sizes are drawn evenly from {@code minSpans} to {@code maxSpans}. */
  public List<byte[]> batches(int count, int minSpans, int maxSpans) {
    List<byte[]> batches = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      batches.add(batch(random.nextInt(minSpans, maxSpans + 1)));
    }
    return batches;
  }

  /** Returns batches in which every operation of every application has one span. */
  public List<byte[]> everyOperation(int mostSpans) {
    List<byte[]> batches = new ArrayList<>();
    for (int application = 0; application < operations.length; application++) {
      int all = operations[application].length;
      for (int from = 0; from < all; from += mostSpans) {
        int first = from;
        batches.add(batch(application, Math.min(mostSpans, all - from), span -> first + span));
      }
    }
    return batches;
  }

  /**
   * Returns batches in pairs. A pair has {@code minSpans + maxSpans} spans, so that the total is
   * equal for every seed.
   */
  public List<byte[]> pairs(int count, int minSpans, int maxSpans) {
    List<byte[]> batches = new ArrayList<>(2 * count);
    for (int i = 0; i < count; i++) {
      int spans = random.nextInt(minSpans, maxSpans + 1);
      batches.add(batch(spans));
      batches.add(batch(minSpans + maxSpans - spans));
    }
    return batches;
  }

  private byte[] batch(int application, int spans) {
    return batch(application, spans, span -> draw(operationShares));
  }

  private byte[] batch(int application, int spans, IntUnaryOperator operationOf) {
    writer.begin();
    int name = intern("application-" + application);
    writer.application(name);
    writer.resourceAttribute(intern("service.name"), name);
    writer.resourceAttribute(intern("service.instance.id"), intern("pod-" + random.nextInt(16)));
    writer.resourceAttribute(intern("host.name"), intern("host-" + random.nextInt(64)));
    long now = 1_790_000_000_000_000_000L + random.nextLong(1_000_000_000L);
    int[] keyIndexes = new int[attributes];
    for (int k = 0; k < attributes; k++) {
      keyIndexes[k] = intern(keys[k]);
    }
    for (int s = 0; s < spans; s++) {
      int operation = operationOf.applyAsInt(s);
      boolean failed = random.nextInt(100) < failedPercent;
      // Median 20 ms, sigma 1: one span in about 23,000 lasts longer than a second.
      long durationNanos = (long) (20e6 * Math.exp(gaussian()));
      now += random.nextLong(2_000_000);
      writer.startSpan(
          random.nextLong(),
          random.nextLong(),
          random.nextLong(),
          random.nextInt(4) == 0 ? 0 : random.nextLong(),
          intern(operations[application][operation]),
          operation % 5 + 1,
          failed ? 2 : operation % 2,
          now,
          durationNanos,
          0);
      int thread = random.nextInt(200);
      for (int k = 0; k < attributes; k++) {
        writer.attribute(keyIndexes[k], value(k, application, operation, failed, thread));
      }
      writer.endSpan();
    }
    int length = writer.finish(AGENT_HIGH, 0, epoch, sequence++);
    return Arrays.copyOf(writer.buffer(), length);
  }

  private int value(int key, int application, int operation, boolean failed, int thread) {
    return switch (key) {
      case 0 -> intern(methods[operation % methods.length]);
      case 1 -> intern(statusCodes[failed ? 6 : random.nextInt(statusCodes.length - 1)]);
      case 2 -> intern(routes[application][operation]);
      case 3 ->
          intern("/api/v1/app" + application + "/resource" + operation + "/" + random.nextInt());
      case 4 -> intern("https");
      case 5, 7 -> intern(hosts[random.nextInt(hosts.length)]);
      case 6 -> intern("8443");
      case 8 -> intern("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101");
      case 9 -> intern("1.1");
      case 10 -> intern(Integer.toString(thread));
      case 11 -> intern("worker-" + thread);
      default -> intern(otherValues[random.nextInt(otherValues.length)]);
    };
  }

  private int intern(String text) {
    return intern(utf8(text));
  }

  private int intern(byte[] bytes) {
    return writer.intern(bytes, 0, bytes.length);
  }

  /** Draws a value by the Box-Muller transform. */
  private double gaussian() {
    double u = 1 - random.nextDouble();
    return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * random.nextDouble());
  }

  private int draw(double[] cumulativeShares) {
    return draw(cumulativeShares, random);
  }

  /** Draws a rank, from 0. */
  public static int draw(double[] cumulativeShares, SplittableRandom random) {
    int at = Arrays.binarySearch(cumulativeShares, random.nextDouble());
    return Math.min(at >= 0 ? at : -at - 1, cumulativeShares.length - 1);
  }

  /** Returns cumulative shares of ranks 1 to n with weight 1/rank. */
  public static double[] zipf(int n) {
    double[] shares = new double[n];
    double sum = 0;
    for (int i = 0; i < n; i++) {
      sum += 1.0 / (i + 1);
      shares[i] = sum;
    }
    for (int i = 0; i < n; i++) {
      shares[i] /= sum;
    }
    return shares;
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[][] utf8(String... texts) {
    return Arrays.stream(texts).map(SpanStream::utf8).toArray(byte[][]::new);
  }
}
