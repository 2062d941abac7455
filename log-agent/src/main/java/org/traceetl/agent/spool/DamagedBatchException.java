package org.traceetl.agent.spool;

import java.io.IOException;

/** Thrown when a batch's bytes on disk differ from those written. */
public final class DamagedBatchException extends IOException {
  DamagedBatchException(String message) {
    super(message);
  }
}
