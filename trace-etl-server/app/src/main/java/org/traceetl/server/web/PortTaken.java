package org.traceetl.server.web;

/** The port cannot be opened. The message is for the person who starts the server. */
public final class PortTaken extends RuntimeException {
  private static final long serialVersionUID = 1L;

  PortTaken(int port, Throwable cause) {
    super(
        "server.port = " + port + ": is in use by another program; end that, or give another port",
        cause);
  }
}
