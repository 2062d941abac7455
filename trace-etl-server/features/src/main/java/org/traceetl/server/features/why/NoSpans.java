package org.traceetl.server.features.why;

import java.io.IOException;

/** The messages that were read have no spans that are asked for. The message is for people. */
final class NoSpans extends IOException {
  private static final long serialVersionUID = 1L;

  NoSpans(String message) {
    super(message);
  }
}
