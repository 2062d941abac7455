package org.traceetl.server.http;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.http.HttpStatus;
import tools.jackson.databind.json.JsonMapper;

/** Errors as {@code application/problem+json} (RFC 9457). */
public final class Problem {
  private static final JsonMapper JSON = new JsonMapper();

  private Problem() {}

  /**
   * @param detail what, which value, what to do
   */
  public static void write(HttpServletResponse response, int status, String detail)
      throws IOException {
    response.setStatus(status);
    response.setContentType("application/problem+json");
    response
        .getOutputStream()
        .write(
            JSON.writeValueAsBytes(
                JSON.createObjectNode()
                    .put("title", HttpStatus.valueOf(status).getReasonPhrase())
                    .put("status", status)
                    .put("detail", detail)));
  }
}
