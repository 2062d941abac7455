package org.traceetl.server.http;

/** A parameter of a request is wrong. The message says what, the value given, what is allowed. */
public final class ParameterRefused extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ParameterRefused(String message) {
    super(message);
  }

  public ParameterRefused(String message, Throwable cause) {
    super(message, cause);
  }
}
