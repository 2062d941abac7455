package org.traceetl.server.ozhera;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Selects the spans that count and the slow ones, and reduces labels: for all applications, and for
 * those with rules of their own. Immutable.
 */
public final class OzheraRules {
  private static final long MICROS_PER_MILLI = 1_000;

  /**
   * Thresholds of all applications or of one; null where not configured.
   *
   * @param httpMillis duration above which a span is slow, milliseconds
   * @param dubboMillis threshold of Dubbo and gRPC
   * @param mysqlMillis threshold of MySQL
   */
  record Section(
      Integer httpMillis,
      Integer dubboMillis,
      Integer mysqlMillis,
      Substrings spanNames,
      Substrings httpServerMethods,
      Substrings threads,
      Substrings urls,
      Substrings userAgents,
      Substrings statements) {
    private static final int SLOW_MILLIS = 1_000;

    static final Section DEFAULTS =
        new Section(
            SLOW_MILLIS,
            SLOW_MILLIS,
            SLOW_MILLIS,
            Substrings.NONE,
            Substrings.NONE,
            Substrings.NONE,
            Substrings.NONE,
            Substrings.NONE,
            Substrings.NONE);

    /** Returns these thresholds, with the missing ones from the argument. */
    Section over(Section other) {
      return new Section(
          or(httpMillis, other.httpMillis),
          or(dubboMillis, other.dubboMillis),
          or(mysqlMillis, other.mysqlMillis),
          or(spanNames, other.spanNames),
          or(httpServerMethods, other.httpServerMethods),
          or(threads, other.threads),
          or(urls, other.urls),
          or(userAgents, other.userAgents),
          or(statements, other.statements));
    }

    private static <T> T or(T value, T otherwise) {
      return value == null ? otherwise : value;
    }
  }

  /**
   * Reductions of labels, so that there are fewer series.
   *
   * @param applications affected applications; empty: all
   */
  record Degradation(boolean serverIp, boolean dubboMethod, boolean sql, Set<String> applications) {
    static final Degradation NONE = new Degradation(false, false, false, Set.of());

    boolean concerns(String application) {
      return applications.isEmpty() || applications.contains(application);
    }
  }

  private static final OzheraRules DEFAULTS =
      new OzheraRules(Section.DEFAULTS, List.of(), Degradation.NONE, Map.of());

  private final Section ofAll;
  private final Substrings excluded;
  private final Degradation degradation;
  private final Map<String, Section> ofApplications;

  /** Rules of an application without a section of its own: degraded, and not. */
  private final ApplicationRules plain;

  private final ApplicationRules degraded;

  /**
   * @param ofAll complete
   * @param excluded applications whose names contain one of these do not count
   * @param ofApplications by name
   */
  OzheraRules(
      Section ofAll,
      List<String> excluded,
      Degradation degradation,
      Map<String, Section> ofApplications) {
    this.ofAll = ofAll;
    this.excluded = new Substrings(excluded);
    this.degradation = degradation;
    this.ofApplications = Map.copyOf(ofApplications);
    plain = compile(ofAll, false);
    degraded = compile(ofAll, true);
  }

  /** The defaults: spans are slow above one second, all count, and labels are complete. */
  public static OzheraRules defaults() {
    return DEFAULTS;
  }

  /** Returns the rules of an application. Allocates if the application has a section of its own. */
  ApplicationRules of(String application) {
    byte[] name = application.getBytes(UTF_8);
    if (excluded.areIn(name, 0, name.length)) {
      return ApplicationRules.EXCLUDED;
    }
    boolean degrades = degradation.concerns(application);
    Section own = ofApplications.get(application);
    if (own == null) {
      return degrades ? degraded : plain;
    }
    return compile(own == null ? ofAll : own.over(ofAll), degrades);
  }

  private ApplicationRules compile(Section section, boolean degrades) {
    return new ApplicationRules(
        false,
        section.httpMillis * MICROS_PER_MILLI,
        section.dubboMillis * MICROS_PER_MILLI,
        section.mysqlMillis * MICROS_PER_MILLI,
        ofAll.dubboMillis * MICROS_PER_MILLI,
        ofAll.mysqlMillis * MICROS_PER_MILLI,
        section.spanNames,
        section.httpServerMethods,
        section.threads,
        section.urls,
        section.userAgents,
        section.statements,
        degrades && degradation.serverIp,
        degrades && degradation.dubboMethod,
        degrades && degradation.sql);
  }
}
