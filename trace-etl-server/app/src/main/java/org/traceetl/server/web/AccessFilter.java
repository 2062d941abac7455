package org.traceetl.server.web;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.web.filter.OncePerRequestFilter;
import org.traceetl.server.binding.AccessFile;
import org.traceetl.server.http.Access;

/** Sets what the sender of a request may see, unless a token did. Runs after authentication. */
final class AccessFilter extends OncePerRequestFilter {
  private final AccessFile tenants;
  private final String groupsClaim;

  /**
   * @param tenants null if everyone sees everything
   * @param groupsClaim claim with a person's groups; null without an OpenID provider
   */
  AccessFilter(AccessFile tenants, String groupsClaim) {
    this.tenants = tenants;
    this.groupsClaim = groupsClaim;
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    if (tenants == null) {
      request.setAttribute(Access.ATTRIBUTE, Access.ALL);
    } else if (request.getAttribute(Access.ATTRIBUTE) == null) {
      request.setAttribute(
          Access.ATTRIBUTE, access(SecurityContextHolder.getContext().getAuthentication()));
    }
    chain.doFilter(request, response);
  }

  private Access access(Authentication person) {
    if (person == null || person instanceof AnonymousAuthenticationToken) {
      return Access.NONE;
    }
    return tenants.policy().ofPerson(person.getName(), groups(person.getPrincipal()));
  }

  private Collection<String> groups(Object principal) {
    Object claim =
        groupsClaim != null && principal instanceof OidcUser user
            ? user.getClaim(groupsClaim)
            : null;
    return switch (claim) {
      case null -> List.of();
      case Collection<?> several -> several.stream().map(String::valueOf).toList();
      default -> List.of(String.valueOf(claim));
    };
  }
}
