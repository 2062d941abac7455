package org.traceetl.agent.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.agent.hash.XxHash64;

/**
 * Which spans need not be sent, and what of the others. Immutable.
 *
 * <p>In each list of rules the first that matches decides; names of applications and whatever else
 * is called a pattern may have {@code *} in them, any run of characters or none. All durations are
 * in nanoseconds.
 *
 * @param drop spans that are not sent
 * @param sample how many spans of an application are sent
 * @param attributes which attributes are sent; those of an application without a rule all are
 * @param limits of what is sent
 * @param redact texts that are replaced, by all rules one after the other
 */
public record FilterRules(
    List<Drop> drop,
    List<Sample> sample,
    List<Allowed> attributes,
    Limits limits,
    List<Redaction> redact) {
  /** What remains of spans that are not sent. */
  public enum Keep {
    /** Their count and durations, so that metrics are as if they had been sent. */
    METRICS,
    /** Nothing. */
    NOTHING
  }

  /** Where a redaction looks. */
  public enum Place {
    /** Values of attributes, of spans and of resources. */
    VALUES,
    /** Names of spans. */
    NAMES,
    /** Status messages. */
    STATUS_MESSAGES
  }

  /**
   * Spans that are not sent: of all of these applications, kinds, names and attributes, if they
   * neither failed nor lasted long.
   *
   * @param applications patterns
   * @param kinds OTLP's numbers, 0 to 5
   * @param names patterns
   * @param attributes pattern of the value by key; each has to be there
   * @param slowNanos a span that lasts so long or longer is sent
   * @param keep what remains of them
   * @param dimensions patterns of the keys of span attributes that remain as well
   */
  public record Drop(
      List<String> applications,
      List<Integer> kinds,
      List<String> names,
      Map<String, String> attributes,
      long slowNanos,
      Keep keep,
      List<String> dimensions) {
    public Drop {
      applications = List.copyOf(applications);
      kinds = List.copyOf(kinds);
      names = List.copyOf(names);
      // In an order that does not change from one process to another.
      attributes = Collections.unmodifiableSortedMap(new TreeMap<>(attributes));
      dimensions = List.copyOf(dimensions);
    }
  }

  /**
   * How many spans of an application are sent.
   *
   * @param applications patterns
   * @param ratio of those sent, {@value #LEAST_RATIO} to 1
   * @param errors whether spans that failed are sent all the same
   * @param slowNanos a span that lasts so long or longer is sent all the same; {@link
   *     Long#MAX_VALUE}: none
   */
  public record Sample(List<String> applications, double ratio, boolean errors, long slowNanos) {
    /** Servers refuse spans that stand for more than 2^20. */
    public static final double LEAST_RATIO = 0.000001;

    public Sample {
      applications = List.copyOf(applications);
    }
  }

  /**
   * Which attributes are sent.
   *
   * @param applications patterns
   * @param span patterns of keys of spans' attributes; null for all
   * @param resource patterns of keys of the resource's attributes; null for all. {@code
   *     service.name} is always sent
   */
  public record Allowed(List<String> applications, List<String> span, List<String> resource) {}

  /**
   * Bounds. Bytes are of UTF-8; a text is cut between two characters.
   *
   * @param attributes most of a span, and of a resource
   * @param valueBytes longest value of an attribute
   * @param nameBytes longest name of a span
   * @param statusMessageBytes longest status message
   */
  public record Limits(int attributes, int valueBytes, int nameBytes, int statusMessageBytes) {
    /** What fits into a batch. */
    public static final Limits NONE =
        new Limits(
            org.traceetl.proto.Limits.MAX_ATTRIBUTES,
            org.traceetl.proto.Limits.MAX_STRING_BYTES,
            org.traceetl.proto.Limits.MAX_STRING_BYTES,
            org.traceetl.proto.Limits.MAX_STRING_BYTES);
  }

  /**
   * Texts that are replaced.
   *
   * @param pattern a regular expression of RE2; each of its matches is replaced
   * @param in where it is looked for
   * @param attributes patterns of the keys of those values
   * @param replacement what stands there then
   */
  public record Redaction(
      String pattern, List<Place> in, List<String> attributes, String replacement) {
    public Redaction {
      in = List.copyOf(in);
      attributes = List.copyOf(attributes);
    }
  }

  /** Rules that change nothing. */
  public static final FilterRules NONE =
      new FilterRules(List.of(), List.of(), List.of(), Limits.NONE, List.of());

  public FilterRules {
    drop = List.copyOf(drop);
    sample = List.copyOf(sample);
    attributes = List.copyOf(attributes);
    redact = List.copyOf(redact);
  }

  /**
   * A number that differs between rules that differ, for all that one looks at: agents that filter
   * alike show the same.
   *
   * @return 32 bits, not negative
   */
  public long fingerprint() {
    byte[] text = toString().getBytes(UTF_8);
    return XxHash64.hash(text, 0, text.length, 0) >>> 32;
  }
}
