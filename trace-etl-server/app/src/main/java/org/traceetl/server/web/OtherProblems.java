package org.traceetl.server.web;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.traceetl.server.http.Problem;

/** Explains the errors of all paths outside the API in the form of the API's. */
@RestController
final class OtherProblems implements ErrorController {
  @RequestMapping("/error")
  void explain(HttpServletRequest request, HttpServletResponse response) throws IOException {
    // Null if this path itself is requested, which does not exist.
    Object code = request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE);
    Object path = request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI);
    HttpStatus status =
        code instanceof Integer number ? HttpStatus.valueOf(number) : HttpStatus.NOT_FOUND;
    response.setHeader("Cache-Control", "no-store");
    Problem.write(
        response,
        status.value(),
        status == HttpStatus.NOT_FOUND
            ? (path == null ? request.getRequestURI() : path)
                + ": is not a path of this server; / is the web UI, /openapi.yaml lists the API"
            : status.getReasonPhrase());
  }
}
