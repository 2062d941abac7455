package org.traceetl.server.web;

/** The port cannot be opened. The message is shown to the operator. */
public final class PortTaken extends RuntimeException {
  private static final long serialVersionUID = 1L;

  PortTaken(int port, Throwable cause) {
    super(
        "server.port = "
            + port
            + ": is in use by another program; stop that program, or configure another port",
        cause);
  }
}
