package org.traceetl.perf.bench.gate;

import java.io.IOException;

/** The baseline is not valid; the message names the line, and what is allowed. */
final class InvalidBaselineException extends IOException {
  private static final long serialVersionUID = 1L;

  InvalidBaselineException(String message) {
    super(message);
  }
}
