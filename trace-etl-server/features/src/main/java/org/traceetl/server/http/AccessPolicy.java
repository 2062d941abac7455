package org.traceetl.server.http;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.traceetl.server.series.Tenants;

/** Who sees which applications: the content of the file of tenants. Immutable. */
public final class AccessPolicy {
  /**
   * Some applications, and who sees them.
   *
   * @param limits its name, patterns and limits
   * @param tokens SHA-256 of each token, in lower-case hexadecimal digits
   */
  public record Tenant(
      Tenants.Tenant limits, Set<String> users, Set<String> groups, Set<String> tokens) {
    public String name() {
      return limits.name();
    }

    public List<String> applications() {
      return limits.applications();
    }
  }

  private final List<Tenant> tenants;

  private final Tenants belonging;

  /**
   * @param tenants in the order of the file
   */
  public AccessPolicy(List<Tenant> tenants) {
    this.tenants = List.copyOf(tenants);
    belonging =
        new Tenants(
            tenants.stream()
                .map(Tenant::limits)
                .filter(limits -> !limits.applications().contains(Access.ANY))
                .toList());
  }

  /** Returns the tenants in the order of the file. */
  public List<Tenant> tenants() {
    return tenants;
  }

  /** Returns the tenants to whom applications belong: all without the pattern {@code *}. */
  public Tenants belonging() {
    return belonging;
  }

  /** Returns what a person sees: the applications of all tenants with the name or a group. */
  public Access ofPerson(String user, Collection<String> groups) {
    return Access.to(
        tenants.stream()
            .filter(tenant ->
                tenant.users.contains(user) || groups.stream().anyMatch(tenant.groups::contains))
            .toList(),
        this);
  }

  /**
   * Returns what the holder of a token sees; null if no tenant has the token.
   *
   * @param sha256 in lower-case hexadecimal digits
   */
  public Access ofToken(String sha256) {
    List<Tenant> having =
        tenants.stream().filter(tenant -> tenant.tokens.contains(sha256)).toList();
    return having.isEmpty() ? null : Access.to(having, this);
  }

  /** Returns the access of those who see everything. */
  public Access ofAll() {
    return Access.toAll(this);
  }
}
