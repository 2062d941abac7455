package org.traceetl.server.http;

import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * Who sees which applications: the content of the file of tenants. Immutable.
 *
 * @param tenants in the order of the file
 */
public record AccessPolicy(List<Tenant> tenants) {
  /**
   * Some applications, and who sees them.
   *
   * @param applications patterns of names, with {@code *} for any text
   * @param tokens SHA-256 of each token, in lower-case hexadecimal digits
   */
  public record Tenant(
      String name,
      List<String> applications,
      Set<String> users,
      Set<String> groups,
      Set<String> tokens) {}

  public AccessPolicy {
    tenants = List.copyOf(tenants);
  }

  /** Returns what a person sees: the applications of all tenants with the name or a group. */
  public Access ofPerson(String user, Collection<String> groups) {
    return Access.to(
        tenants.stream()
            .filter(tenant ->
                tenant.users.contains(user) || groups.stream().anyMatch(tenant.groups::contains))
            .flatMap(tenant -> tenant.applications.stream())
            .toList());
  }

  /**
   * Returns what the holder of a token sees; null if no tenant has the token.
   *
   * @param sha256 in lower-case hexadecimal digits
   */
  public Access ofToken(String sha256) {
    List<Tenant> having =
        tenants.stream().filter(tenant -> tenant.tokens.contains(sha256)).toList();
    return having.isEmpty()
        ? null
        : Access.to(having.stream().flatMap(tenant -> tenant.applications.stream()).toList());
  }
}
