package org.traceetl.server.web;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.authentication.preauth.PreAuthenticatedAuthenticationToken;
import org.springframework.web.filter.OncePerRequestFilter;
import org.traceetl.common.Secret;

/** Authenticates requests with {@code Authorization: Bearer} and the token, without a session. */
final class TokenFilter extends OncePerRequestFilter {
  private static final String SCHEME = "Bearer ";

  private final byte[] expected;

  TokenFilter(Secret token) {
    expected = bytes(SCHEME + token.value());
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    String shown = request.getHeader("Authorization");
    // In constant time: the time does not reveal where the first difference is.
    if (shown != null && MessageDigest.isEqual(expected, bytes(shown))) {
      var context = SecurityContextHolder.createEmptyContext();
      context.setAuthentication(
          new PreAuthenticatedAuthenticationToken(
              "token", "", List.of(new SimpleGrantedAuthority("program"))));
      SecurityContextHolder.setContext(context);
    }
    chain.doFilter(request, response);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
