package org.traceetl.server.series;

import java.util.List;
import org.traceetl.common.WildcardPattern;
import org.traceetl.server.window.Books;

/** The tenants to whom applications belong, and the limits of each. Immutable. */
public final class Tenants {
  /** No application belongs to a tenant. */
  public static final Tenants NONE = new Tenants(List.of());

  /** No tenant. */
  public static final int NO_TENANT = -1;

  /**
   * Applications that are counted and limited together.
   *
   * @param applications patterns of names, with {@code *} for any text
   * @param maxSeries series on one queue, without variances; {@link Integer#MAX_VALUE} for no limit
   * @param maxDocuments documents of slow and failed spans of one queue and window; {@link
   *     Integer#MAX_VALUE} for no limit
   */
  public record Tenant(String name, List<String> applications, int maxSeries, int maxDocuments) {
    public Tenant {
      applications = List.copyOf(applications);
    }
  }

  private final List<Tenant> tenants;

  /** The patterns of each tenant. */
  private final List<List<WildcardPattern>> patterns;

  /**
   * @param tenants an application belongs to the first one with a pattern that matches
   */
  public Tenants(List<Tenant> tenants) {
    this.tenants = List.copyOf(tenants);
    patterns =
        this.tenants.stream()
            .map(tenant -> tenant.applications.stream().map(WildcardPattern::new).toList())
            .toList();
  }

  /** Returns the number of tenants. */
  public int size() {
    return tenants.size();
  }

  /** Returns a tenant by its number. */
  public Tenant get(int tenant) {
    return tenants.get(tenant);
  }

  /**
   * Returns the number of the tenant to whom an application belongs, or {@link #NO_TENANT}, which
   * is also that of names that stand for several applications.
   */
  public int of(String application) {
    if (application.isEmpty()
        || application.equals(Books.OTHER)
        || application.equals(Applications.UNNAMED)) {
      return NO_TENANT;
    }
    for (int tenant = 0; tenant < patterns.size(); tenant++) {
      for (WildcardPattern pattern : patterns.get(tenant)) {
        if (pattern.matches(application)) {
          return tenant;
        }
      }
    }
    return NO_TENANT;
  }
}
