package org.traceetl.server.web;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.hash.Hashing;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.MessageDigest;
import java.util.List;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.authentication.preauth.PreAuthenticatedAuthenticationToken;
import org.springframework.web.filter.OncePerRequestFilter;
import org.traceetl.common.Secret;
import org.traceetl.server.binding.AccessFile;
import org.traceetl.server.http.Access;

/**
 * Authenticates requests with {@code Authorization: Bearer} and the token of this server, or that
 * of a tenant, without a session, and sets what they may see.
 */
final class TokenFilter extends OncePerRequestFilter {
  private static final String SCHEME = "Bearer ";

  /** Null without a token of this server. */
  private final byte[] expected;

  /** Null without tenants. */
  private final AccessFile tenants;

  /**
   * @param token null for none
   * @param tenants null for none
   */
  TokenFilter(Secret token, AccessFile tenants) {
    expected = token == null ? null : bytes(token.value());
    this.tenants = tenants;
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    String shown = request.getHeader("Authorization");
    Access access =
        shown != null && shown.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
            ? access(shown.substring(SCHEME.length()))
            : null;
    if (access != null) {
      request.setAttribute(Access.ATTRIBUTE, access);
      var context = SecurityContextHolder.createEmptyContext();
      context.setAuthentication(
          new PreAuthenticatedAuthenticationToken(
              "token", "", List.of(new SimpleGrantedAuthority("program"))));
      SecurityContextHolder.setContext(context);
    }
    chain.doFilter(request, response);
  }

  /** Returns null for an unknown token. */
  private Access access(String shown) {
    // In constant time: the time does not reveal where the first difference is.
    if (expected != null && MessageDigest.isEqual(expected, bytes(shown))) {
      return tenants == null ? Access.ALL : tenants.policy().ofAll();
    }
    // Of a digest, the time reveals nothing that helps to find the token.
    return tenants == null
        ? null
        : tenants.policy().ofToken(Hashing.sha256().hashString(shown, UTF_8).toString());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }
}
