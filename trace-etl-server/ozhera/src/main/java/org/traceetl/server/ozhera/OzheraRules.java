package org.traceetl.server.ozhera;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which spans count, which are slow, and what is left out of their labels: for all applications,
 * and for those that have rules of their own. Immutable.
 */
public final class OzheraRules {
  private static final long MICROS_PER_MILLI = 1_000;

  /**
   * What is said of all applications, or of one; null where nothing is.
   *
   * @param httpMillis a span is slow if it lasts longer, milliseconds
   * @param dubboMillis the same of Dubbo and gRPC
   * @param mysqlMillis the same of MySQL
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

    /** What is said here, and what is not as it is there. */
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
   * What is left out of labels, so that there are fewer series.
   *
   * @param applications whose; empty: of all
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

  /** Of an application without a section of its own; degraded, and not. */
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

  /** Spans are slow above a second, all count, and labels are whole. */
  public static OzheraRules defaults() {
    return DEFAULTS;
  }

  /** What holds for an application. Where it has a section of its own, a few numbers are new. */
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
