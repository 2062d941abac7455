package org.traceetl.server.http;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.converter.json.ProblemDetailJacksonMixin;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.json.JsonMapper;

/** Writes errors as {@code application/problem+json} (RFC 9457). */
public final class Problem {
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
          .addMixIn(ProblemDetail.class, ProblemDetailJacksonMixin.class)
          .build();

  private Problem() {}

  /**
   * Answers with an error.
   *
   * @param detail what was wrong, the value given, what is allowed
   */
  public static void write(HttpServletResponse response, int status, String detail)
      throws IOException {
    response.setStatus(status);
    response.setContentType("application/problem+json");
    response
        .getOutputStream()
        .write(
            JSON.writeValueAsBytes(
                ProblemDetail.forStatusAndDetail(HttpStatus.valueOf(status), detail)));
  }
}
