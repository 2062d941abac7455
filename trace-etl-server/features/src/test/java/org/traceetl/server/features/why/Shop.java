package org.traceetl.server.features.why;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.traceetl.proto.SpanBatchWriter;

/**
 * The spans of an application with twelve hosts, as agents send them by a demand: slow and failed
 * ones whole, an exemplar of each operation in each batch, one trace in 128 whole as a sample, the
 * others in groups. Some calls may be slow or failed because of the values that they have.
 */
public final class Shop {
  public static final String NAME = "shop";
  static final long SLOW_NANOS = 1_000_000_000;

  /** The value of a planned attribute that spans do not have. */
  static final String ABSENT = "";

  static final String SIZE = "request.size";

  /** Its planned value: a number of at least 1,000,000. */
  static final String LARGE = "large";

  private static final int SERVER = 2;
  private static final int CLIENT = 3;
  private static final int ERROR = 2;
  private static final int TRACES_OF_BATCH = 150;
  private static final long SAMPLE_THRESHOLD = (1L << 56) / 128 * 127;
  private static final long MASK = (1L << 56) - 1;
  private static final int HOSTS = 12;
  private static final int CUSTOMERS = 3_000;
  private static final int FLAGS = 8;

  private static final String[] ROUTES = {
    "GET /cart", "GET /items/{id}", "POST /order", "GET /search", "POST /login", "GET /stock"
  };

  /** Median duration of each route, ms. */
  private static final double[] MEDIANS = {12, 20, 90, 150, 40, 8};

  /** What a cause does to the calls that have it. */
  public enum Effect {
    NONE,
    FAILED,
    SLOW,
    /** Slower than usual, but not slow by the demand. */
    SLUGGISH
  }

  /**
   * A cause.
   *
   * @param attributes keys and values, one pair or two
   * @param share of all calls that have all of them
   * @param probability of the effect on a call that has them
   */
  public record Plan(Effect effect, List<String> attributes, double share, double probability) {
    static final Plan NONE = new Plan(Effect.NONE, List.of(), 0, 0);

    /** Returns the probability of each of its values. */
    double shareOfEach() {
      return Math.pow(share, 2.0 / attributes.size());
    }
  }

  private final SplittableRandom random;
  private final Plan plan;
  private final SpanBatchWriter writer = new SpanBatchWriter();
  private final List<String> attributes = new ArrayList<>();
  private final Set<String> exemplars = new HashSet<>();
  private List<String> resource = List.of();
  private int host;
  private long sequence;

  public Shop(long seed, Plan plan) {
    random = new SplittableRandom(seed);
    this.plan = plan;
  }

  /** Returns a shop with a host whose calls fail. */
  public static Shop failing(long seed) {
    return new Shop(seed, new Plan(Effect.FAILED, List.of("host.name", "host-bad"), 0.1, 0.9));
  }

  /** Returns the messages of this many further traces. */
  public List<byte[]> messages(int traces) {
    List<byte[]> messages = new ArrayList<>();
    for (int begun = 0; begun < traces; begun += TRACES_OF_BATCH) {
      beginBatch();
      for (int i = 0; i < TRACES_OF_BATCH; i++) {
        trace();
      }
      int length = writer.finish(1, host, 1, sequence++);
      messages.add(Arrays.copyOf(writer.buffer(), length));
    }
    return messages;
  }

  private void beginBatch() {
    host = random.nextInt(HOSTS);
    String name = planned("host.name", "host-" + host);
    String version = planned("service.version", host < 6 ? "1.8.2" : "1.9.0");
    String zone = planned("cloud.availability_zone", "eu-" + (char) ('a' + host % 3));
    resource =
        List.of(
            "service.name",
            NAME,
            "host.name",
            name,
            "k8s.node.name",
            "node-of-" + name,
            "service.version",
            version,
            "cloud.availability_zone",
            zone,
            "telemetry.sdk.language",
            "java");
    writer.begin();
    writer.application(intern(NAME));
    for (int i = 0; i < resource.size(); i += 2) {
      writer.resourceAttribute(intern(resource.get(i)), intern(resource.get(i + 1)));
    }
    writer.demand(3);
    writer.groupKey(intern("http.route"));
    writer.sampleThreshold(SAMPLE_THRESHOLD);
    exemplars.clear();
  }

  /** Returns the planned value of an attribute as often as planned, else another one. */
  private String planned(String key, String otherwise) {
    int at = plan.attributes.indexOf(key);
    return at >= 0 && at % 2 == 0 && random.nextDouble() < plan.shareOfEach()
        ? plan.attributes.get(at + 1)
        : otherwise;
  }

  private void trace() {
    long high = random.nextLong();
    long low = random.nextLong();
    int route = Math.min(random.nextInt(ROUTES.length), random.nextInt(ROUTES.length));
    attributes.clear();
    attribute("http.route", ROUTES[route].substring(ROUTES[route].indexOf(' ') + 1));
    attribute("http.request.method", ROUTES[route].substring(0, ROUTES[route].indexOf(' ')));
    attribute("customer", "c" + (int) (CUSTOMERS * Math.pow(random.nextDouble(), 3)));
    attribute("user.id", Integer.toString(random.nextInt(10_000_000)));
    attribute("request.id", Long.toHexString(random.nextLong()));
    attribute("url.full", "https://shop.example.com/x/" + random.nextInt(1_000_000));
    attribute("thread.name", "worker-" + random.nextInt(40));
    attribute("db.namespace", "db" + random.nextInt(5));
    attribute("tier", random.nextInt(4) == 0 ? "gold" : "basic");
    attribute(SIZE, "small");
    attribute("client.platform", random.nextInt(3) == 0 ? "android" : "web");
    for (int flag = 0; flag < FLAGS; flag++) {
      attribute("flag." + flag, random.nextInt(flag + 2) == 0 ? "on" : "off");
    }
    boolean hit = plan.effect != Effect.NONE && has() && random.nextDouble() < plan.probability;
    boolean failed = random.nextInt(500) == 0 || hit && plan.effect == Effect.FAILED;
    long nanos = duration(MEDIANS[route]);
    if (random.nextInt(300) == 0 || hit && plan.effect == Effect.SLOW) {
      nanos = SLOW_NANOS + random.nextLong(3_000_000_000L);
    } else if (hit && plan.effect == Effect.SLUGGISH) {
      nanos = Math.max(nanos, 500_000_000 + random.nextLong(400_000_000));
    }
    span(high, low, ROUTES[route], SERVER, failed, nanos);
    // Some calls have a child, which is slow or failed as its parent is.
    if (random.nextInt(3) > 0) {
      attribute("db.system.name", "postgresql");
      span(high, low, "SELECT shop", CLIENT, failed && random.nextBoolean(), nanos / 10 * 9);
    }
  }

  private boolean has() {
    for (int i = 0; i < plan.attributes.size(); i += 2) {
      if (!has(attributes, i) && !has(resource, i)) {
        return false;
      }
    }
    return true;
  }

  private boolean has(List<String> all, int planned) {
    for (int i = 0; i < all.size(); i += 2) {
      if (all.get(i).equals(plan.attributes.get(planned))) {
        return all.get(i + 1).equals(plan.attributes.get(planned + 1));
      }
    }
    return false;
  }

  private void attribute(String key, String value) {
    attributes.add(key);
    attributes.add(planned(key, value));
  }

  /** Returns a duration below the demand's threshold. */
  private long duration(double medianMillis) {
    double normal = 0;
    for (int i = 0; i < 12; i++) {
      normal += random.nextDouble();
    }
    return Math.min(SLOW_NANOS - 1, (long) (medianMillis * 1e6 * Math.exp(0.5 * (normal - 6))));
  }

  private void span(long high, long low, String name, int kind, boolean failed, long nanos) {
    int status = failed ? ERROR : 0;
    boolean isMember = (low & MASK) >= SAMPLE_THRESHOLD;
    boolean isWhole = failed || nanos >= SLOW_NANOS || exemplars.add(name);
    long id = random.nextLong() | 1;
    if (isWhole) {
      writer.startSpan(high, low, id, 0, intern(name), kind, status, 1_000, nanos, 0);
      all(failed);
      if (isMember) {
        writer.sampled();
      }
      writer.endSpan();
      return;
    }
    writer.startGroupedSpan(intern(name), kind, status, nanos, 0);
    writer.attribute(intern(attributes.get(0)), intern(attributes.get(1)));
    writer.endSpan();
    if (isMember) {
      writer.startSample(
          high, low, id, 0, intern(name), kind, status, 1_000, nanos, SAMPLE_THRESHOLD);
      all(false);
      writer.endSpan();
    }
  }

  private void all(boolean failed) {
    for (int i = 0; i < attributes.size(); i += 2) {
      String key = attributes.get(i);
      String value = attributes.get(i + 1);
      if (!value.equals(ABSENT)) {
        writer.attribute(intern(key), intern(key.equals(SIZE) ? size(value) : value));
      }
    }
    if (kindHasStatus()) {
      writer.attribute(intern("http.response.status_code"), intern(failed ? "500" : "200"));
    }
    if (failed) {
      writer.attribute(intern("error.type"), intern("java.io.IOException"));
    }
  }

  private String size(String planned) {
    return Integer.toString(
        planned.equals(LARGE)
            ? 1_000_000 + random.nextInt(4_000_000)
            : (int) Math.exp(random.nextDouble() * Math.log(1_000_000)));
  }

  private boolean kindHasStatus() {
    return !attributes.contains("db.system.name");
  }

  private int intern(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }
}
