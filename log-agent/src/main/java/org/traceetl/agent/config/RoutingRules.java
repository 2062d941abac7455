package org.traceetl.agent.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.traceetl.common.WildcardPattern;
import org.traceetl.proto.XxHash64;

/**
 * How applications are spread over the queues, and which applications are dropped. Immutable.
 *
 * <p>A name of an application may be a pattern: {@code *} matches any characters, also none. The
 * rule with an application's exact name applies. Without it, the matching pattern with the most
 * bytes other than {@code *} applies; of several, the first by bytes. Their order is irrelevant.
 *
 * @param standard the rule for all applications without one of their own
 * @param applications rules for single applications (file only): {@code queues} and {@code spread}
 *     by name or pattern, as in the routing file
 * @param excluded names or patterns of the applications whose spans are dropped
 */
public record RoutingRules(Rule standard, Map<String, Rule> applications, Set<String> excluded) {
  /** How the queue of a span is chosen from its application's queues. */
  public enum Spread {
    /** By its series: each series is on one queue. */
    SERIES,
    /** At random: for an application with a single hot series. */
    RANDOM
  }

  /**
   * The queues of one application.
   *
   * @param queues queues of an application; 1 to 1024, at most those of the topic; the same for all
   *     agents
   * @param spread how a queue is chosen from them: {@code series} keeps a series on one queue;
   *     {@code random} distributes a single hot series
   * @param pinned whether the number is configured for this application; then decisions of the
   *     servers do not change it
   */
  public record Rule(int queues, Spread spread, boolean pinned) {}

  /** Most queues of an application. */
  public static final int MAX_QUEUES = 1_024;

  private static final Comparator<String> NARROWEST_FIRST =
      Comparator.comparingInt((String pattern) -> -literalBytes(pattern))
          .thenComparing(pattern -> pattern.getBytes(UTF_8), Arrays::compareUnsigned);

  public RoutingRules {
    applications = Map.copyOf(applications);
    excluded = Set.copyOf(excluded);
  }

  /** Returns rules with two queues for each application, spread by series; none is excluded. */
  public static RoutingRules defaults() {
    return new RoutingRules(new Rule(2, Spread.SERIES, false), Map.of(), Set.of());
  }

  /** Returns the rule for an application. */
  public Rule rule(String application) {
    Rule exact = applications.get(application);
    if (exact != null) {
      return exact;
    }
    String narrowest = null;
    for (String pattern : applications.keySet()) {
      if (matches(pattern, application)
          && (narrowest == null || NARROWEST_FIRST.compare(pattern, narrowest) < 0)) {
        narrowest = pattern;
      }
    }
    return narrowest == null ? standard : applications.get(narrowest);
  }

  /** Returns whether an application's spans are dropped. */
  public boolean excludes(String application) {
    return excluded.stream().anyMatch(pattern -> matches(pattern, application));
  }

  /**
   * Returns a hash of the rules. Agents with the same rules have the same.
   *
   * @return 32 bits, not negative
   */
  public long fingerprint() {
    byte[] text =
        (standard + "\n" + new TreeMap<>(applications) + "\n" + new TreeSet<>(excluded))
            .getBytes(UTF_8);
    return XxHash64.hash(text, 0, text.length, 0) >>> 32;
  }

  private static int literalBytes(String pattern) {
    return pattern.replace("*", "").getBytes(UTF_8).length;
  }

  private static boolean matches(String pattern, String name) {
    return pattern.equals(name)
        || pattern.indexOf('*') >= 0 && new WildcardPattern(pattern).matches(name);
  }
}
