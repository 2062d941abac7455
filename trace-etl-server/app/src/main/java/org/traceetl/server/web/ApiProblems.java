package org.traceetl.server.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.MediaType;
import org.springframework.security.web.firewall.RequestRejectedException;
import org.springframework.web.HttpMediaTypeNotSupportedException;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.bind.MissingServletRequestParameterException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.util.DisconnectedClientHelper;
import org.traceetl.server.http.ParameterRefused;
import org.traceetl.server.http.Problem;

/** Explains errors: what was wrong, the value given, what is allowed. */
@RestControllerAdvice
final class ApiProblems {
  static final List<String> METHODS = List.of("GET", "HEAD");

  /** The method of a path that has a body. It changes nothing either. */
  static final String POST = "POST";

  private static final Logger log = LoggerFactory.getLogger(ApiProblems.class);

  @ExceptionHandler
  void refused(ResponseStatusException e, HttpServletResponse response) throws IOException {
    write(response, e.getStatusCode().value(), e.getReason());
  }

  @ExceptionHandler
  void method(HttpRequestMethodNotSupportedException e, HttpServletResponse response)
      throws IOException {
    String[] supported = e.getSupportedMethods();
    boolean isPosted = supported != null && List.of(supported).contains(POST);
    response.setHeader("Allow", isPosted ? POST : String.join(", ", METHODS));
    write(
        response,
        HttpServletResponse.SC_METHOD_NOT_ALLOWED,
        "method = "
            + e.getMethod()
            + (isPosted ? ": must be POST" : ": must be GET or HEAD; the API is read-only"));
  }

  @ExceptionHandler
  void type(HttpMediaTypeNotSupportedException e, HttpServletResponse response) throws IOException {
    write(
        response,
        HttpServletResponse.SC_UNSUPPORTED_MEDIA_TYPE,
        "Content-Type"
            + (e.getContentType() == null ? "" : " = " + e.getContentType())
            + ": must be "
            + MediaType.toString(e.getSupportedMediaTypes()));
  }

  @ExceptionHandler
  void missing(MissingServletRequestParameterException e, HttpServletResponse response)
      throws IOException {
    write(response, HttpServletResponse.SC_BAD_REQUEST, e.getParameterName() + ": must be given");
  }

  @ExceptionHandler
  void wrong(ParameterRefused e, HttpServletResponse response) throws IOException {
    write(response, HttpServletResponse.SC_BAD_REQUEST, e.getMessage());
  }

  @ExceptionHandler
  void header(RequestRejectedException e, HttpServletResponse response) throws IOException {
    write(
        response,
        HttpServletResponse.SC_BAD_REQUEST,
        "a header contains characters that are not allowed");
  }

  @ExceptionHandler
  void failed(RuntimeException e, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    if (DisconnectedClientHelper.isClientDisconnectedException(e)) {
      return;
    }
    log.error("Failed to answer {} because of an internal error", request.getServletPath(), e);
    write(
        response,
        HttpServletResponse.SC_INTERNAL_SERVER_ERROR,
        "an internal error occurred; the server's log has its stack trace");
  }

  private static void write(HttpServletResponse response, int status, String detail)
      throws IOException {
    response.setHeader("Cache-Control", "no-store");
    response.setHeader("ETag", null);
    Problem.write(response, status, detail);
  }
}
