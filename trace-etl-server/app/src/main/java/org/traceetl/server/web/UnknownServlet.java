package org.traceetl.server.web;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.traceetl.server.http.Problem;

/** All of {@code /api} that there is not. */
final class UnknownServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    Problem.write(
        response,
        HttpServletResponse.SC_NOT_FOUND,
        request.getRequestURI()
            + ": is no path of the API; /openapi.yaml has those that there are");
  }
}
