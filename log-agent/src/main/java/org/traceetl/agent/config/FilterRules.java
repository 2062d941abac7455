package org.traceetl.agent.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.proto.XxHash64;

/**
 * Which spans are not sent, and what is removed from the others. Immutable.
 *
 * <p>In each list the first rule that matches applies. In a pattern, {@code *} matches any run of
 * characters, also an empty one. All durations are in nanoseconds.
 *
 * @param drop spans that are not sent
 * @param sample the ratio of an application's spans that are sent
 * @param attributes the attributes that are sent; all, for an application without a rule
 * @param limits of the spans that are sent
 * @param redact texts that are replaced; all rules apply, one after the other
 */
public record FilterRules(
    List<Drop> drop,
    List<Sample> sample,
    List<Allowed> attributes,
    Limits limits,
    List<Redaction> redact) {
  /** What the server gets of spans that are not sent. */
  public enum Keep {
    /** Their count and durations; metrics are the same as with the spans. */
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
   * Spans that are not sent. All conditions must hold, and the span must be neither failed nor
   * slow.
   *
   * @param applications patterns
   * @param kinds OTLP's numbers, 0 to 5
   * @param names patterns
   * @param attributes pattern of the value by key; each is required
   * @param slowNanos a span of at least this duration is sent
   * @param keep what the server gets instead
   * @param dimensions patterns of the keys of span attributes that the server also gets
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
      // In an order that is the same in all processes.
      attributes = Collections.unmodifiableSortedMap(new TreeMap<>(attributes));
      dimensions = List.copyOf(dimensions);
    }
  }

  /**
   * The ratio of an application's spans that are sent.
   *
   * @param applications patterns
   * @param ratio of those sent, {@value #LEAST_RATIO} to 1
   * @param errors whether failed spans are always sent
   * @param slowNanos a span of at least this duration is always sent; {@link Long#MAX_VALUE}: none
   */
  public record Sample(List<String> applications, double ratio, boolean errors, long slowNanos) {
    /** Servers refuse spans that represent more than 2^20 spans. */
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
   * Bounds. Bytes are of UTF-8; a text is truncated between two characters.
   *
   * @param attributes most of a span, and of a resource
   * @param valueBytes longest value of an attribute
   * @param nameBytes longest name of a span
   * @param statusMessageBytes longest status message
   */
  public record Limits(int attributes, int valueBytes, int nameBytes, int statusMessageBytes) {
    /** The bounds of a batch. */
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
   * @param in where it is searched
   * @param attributes patterns of the keys whose values are searched
   * @param replacement text in place of a match
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
   * Returns a hash of the rules. Agents with the same rules have the same.
   *
   * @return 32 bits, not negative
   */
  public long fingerprint() {
    byte[] text = toString().getBytes(UTF_8);
    return XxHash64.hash(text, 0, text.length, 0) >>> 32;
  }
}
