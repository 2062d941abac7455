package org.traceetl.server.http;

import jakarta.servlet.http.HttpServletRequest;

/** The client of a request, for answers that take long. */
@FunctionalInterface
public interface Caller {
  /** The attribute of a request that has its caller. */
  String ATTRIBUTE = "org.traceetl.server.http.Caller";

  /** Returns the caller of a request. If the port does not know it, it waits for ever. */
  static Caller of(HttpServletRequest request) {
    return request.getAttribute(ATTRIBUTE) instanceof Caller caller ? caller : () -> true;
  }

  /**
   * Returns whether the client still waits for the answer. Never waits itself. Call it on the
   * request's thread, after the whole body was read.
   */
  boolean isWaiting();
}
