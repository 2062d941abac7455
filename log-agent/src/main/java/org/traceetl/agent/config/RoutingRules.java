package org.traceetl.agent.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.traceetl.agent.hash.XxHash64;
import org.traceetl.common.WildcardPattern;

/**
 * How applications are laid out over the queues, and whose spans are not wanted. Immutable.
 *
 * <p>A name of an application may be a pattern: {@code *} stands for any characters, or none. The
 * rule under an application's exact name wins; else, of the patterns that match, the one with the
 * most bytes besides {@code *}, and of equals the first by bytes. The order in which they are
 * written does not matter.
 *
 * @param standard the rule for all applications without one of their own
 * @param applications rules for single applications (file only): {@code queues} and {@code spread}
 *     by name or pattern, as in the routing file
 * @param excluded names or patterns of the applications whose spans are dropped
 */
public record RoutingRules(Rule standard, Map<String, Rule> applications, Set<String> excluded) {
  /** What decides the queue of a span among its application's queues. */
  public enum Spread {
    /** What will be its series: a series lives on one queue. */
    SERIES,
    /** Chance: for an application that is one single hot series. */
    RANDOM
  }

  /**
   * One application's layout.
   *
   * @param queues queues of an application; 1 to 1024, at most those of the topic; the same for all
   *     agents
   * @param spread how a queue is chosen from them: {@code series} keeps a series on one queue;
   *     {@code random} distributes a single hot series
   * @param pinned whether that number was given for this application: then no decision of the
   *     servers changes it
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

  /** Two queues for each application, spread by series; none excluded. */
  public static RoutingRules defaults() {
    return new RoutingRules(new Rule(2, Spread.SERIES, false), Map.of(), Set.of());
  }

  /** The rule for an application. */
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

  /** Whether an application's spans are dropped. */
  public boolean excludes(String application) {
    return excluded.stream().anyMatch(pattern -> matches(pattern, application));
  }

  /**
   * A number that differs between rules that differ, for all that one looks at: agents that route
   * alike show the same.
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
    return new WildcardPattern(pattern).matches(name);
  }
}
