package org.traceetl.server.web;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.traceetl.server.config.Secret;

/** Lets pass who shows the token as {@code Authorization: Bearer}. */
final class TokenFilter extends HttpFilter {
  private static final long serialVersionUID = 1L;

  private final transient byte[] expected;

  TokenFilter(Secret token) {
    expected = bytes("Bearer " + token.value());
  }

  @Override
  protected void doFilter(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    String shown = request.getHeader("Authorization");
    // Takes the same time wherever the first difference is.
    if (shown != null && MessageDigest.isEqual(expected, bytes(shown))) {
      chain.doFilter(request, response);
      return;
    }
    response.setHeader("WWW-Authenticate", "Bearer");
    Problem.write(
        response,
        HttpServletResponse.SC_UNAUTHORIZED,
        "Authorization: must be Bearer and the token that this server was given");
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
