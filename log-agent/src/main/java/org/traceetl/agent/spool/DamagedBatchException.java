package org.traceetl.agent.spool;

import java.io.IOException;

/** A batch's bytes on disk are not what was written. */
public final class DamagedBatchException extends IOException {
  DamagedBatchException(String message) {
    super(message);
  }
}
