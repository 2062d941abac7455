package org.traceetl.server.http;

/** A request that gets no answer, and why: what, which value, what to do. */
public final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;

  /**
   * @param status of HTTP, 400 or above
   */
  public Refusal(int status, String detail) {
    super(detail);
    this.status = status;
  }

  public int status() {
    return status;
  }
}
