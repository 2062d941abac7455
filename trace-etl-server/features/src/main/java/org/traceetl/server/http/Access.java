package org.traceetl.server.http;

import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.traceetl.common.WildcardPattern;
import org.traceetl.server.series.Applications;
import org.traceetl.server.series.Tenants;
import org.traceetl.server.window.Books;

/**
 * The applications that the sender of a request may see. A method of a resource that has it as a
 * parameter answers everyone, with these applications only; all other methods refuse senders who
 * may not see all applications. Immutable.
 */
public final class Access {
  /** The attribute of a request that has its access. */
  public static final String ATTRIBUTE = "org.traceetl.server.http.Access";

  /** Sees everything, also what belongs to no application. */
  public static final Access ALL = new Access(null, null, null);

  /** Sees no application. */
  public static final Access NONE = new Access(List.of(), Set.of(), null);

  /** The pattern of everything. */
  static final String ANY = "*";

  /** The client of edges whose requests come from outside. */
  private static final String USER = "user";

  /** Null for everything. */
  private final List<String> patterns;

  private final List<WildcardPattern> compiled;

  /** Names of tenants; null for all. */
  private final Set<String> tenants;

  /** Null if applications have no tenants. */
  private final AccessPolicy policy;

  private Access(List<String> patterns, Set<String> tenants, AccessPolicy policy) {
    this.patterns = patterns == null ? null : List.copyOf(patterns);
    compiled = patterns == null ? null : patterns.stream().map(WildcardPattern::new).toList();
    this.tenants = tenants;
    this.policy = policy;
  }

  /**
   * Returns access to the applications that match one of the patterns.
   *
   * @param patterns names with {@code *} for any text; {@code *} alone is everything
   */
  public static Access to(List<String> patterns) {
    return patterns.contains(ANY) ? ALL : new Access(patterns, Set.of(), null);
  }

  /** Returns access to everything, with the tenants to whom applications belong. */
  static Access toAll(AccessPolicy policy) {
    return new Access(null, null, policy);
  }

  /** Returns access to what some tenants see. */
  static Access to(List<AccessPolicy.Tenant> tenants, AccessPolicy policy) {
    List<String> patterns =
        tenants.stream().flatMap(tenant -> tenant.applications().stream()).distinct().toList();
    return patterns.contains(ANY)
        ? toAll(policy)
        : new Access(
            patterns,
            tenants.stream().map(AccessPolicy.Tenant::name).collect(Collectors.toSet()),
            policy);
  }

  /** Returns the access of a request's sender; nothing if the port has not set it. */
  public static Access of(HttpServletRequest request) {
    return request.getAttribute(ATTRIBUTE) instanceof Access access ? access : NONE;
  }

  /** Returns whether everything is visible. */
  public boolean isToAll() {
    return patterns == null;
  }

  /**
   * Returns the patterns of the visible applications; null for everything. {@link #sees} excludes
   * names that stand for several applications besides.
   */
  public List<String> patterns() {
    return patterns;
  }

  /**
   * Returns whether an application is visible. Names that stand for several applications are so
   * only if everything is.
   *
   * @param application null or empty for none
   */
  public boolean sees(String application) {
    return patterns == null
        || application != null
            && !application.isEmpty()
            && !application.equals(Books.OTHER)
            && !application.equals(Applications.UNNAMED)
            && compiled.stream().anyMatch(pattern -> pattern.matches(application));
  }

  /**
   * Returns the tenant to whom the usage of an application counts, empty for none; null if the
   * sender may not see it.
   */
  public String tenantOf(String application) {
    Tenants all = policy == null ? Tenants.NONE : policy.belonging();
    int tenant = all.of(application);
    String name = tenant == Tenants.NO_TENANT ? "" : all.get(tenant).name();
    return tenants == null || tenants.contains(name) ? name : null;
  }

  /** Returns what senders with the same access have in common, for {@link Runs#tryBegin}. */
  public Object place() {
    return tenants == null ? ANY : tenants;
  }

  /**
   * Returns whether an edge of the service graph is visible: if both ends are, or the only one that
   * is an application that sends spans. Its own spans have the name of the other end. Of an
   * application with the name {@value #USER}, edges to what sends no spans are hidden: the requests
   * from outside to all others look the same.
   *
   * @param client null for none
   * @param server null for none
   * @param isVirtual whether one end sends no spans
   */
  public boolean seesEdge(String client, String server, boolean isVirtual) {
    if (USER.equals(client) && (isVirtual || server == null)) {
      return sees(server);
    }
    if (isVirtual) {
      return sees(client);
    }
    if (client == null || server == null) {
      return sees(client == null ? server : client);
    }
    return sees(client) && sees(server);
  }
}
