package org.traceetl.server.canary;

import com.google.common.primitives.Ints;

/** Reads an ExportTraceServiceResponse of OTLP, which may be anything. */
final class PartialSuccess {
  private static final int PARTIAL_SUCCESS = 1 << 3 | 2;
  private static final int REJECTED_SPANS = 1 << 3;

  private PartialSuccess() {}

  /** Returns the number of rejected spans; 0 if the answer does not begin with one. */
  static int rejected(byte[] body) {
    int at = 2;
    if (body.length <= at + 1 || body[0] != PARTIAL_SUCCESS || body[at] != REJECTED_SPANS) {
      return 0;
    }
    long rejected = 0;
    int shift = 0;
    do {
      at++;
      rejected |= (body[at] & 0x7fL) << shift;
      shift += 7;
    } while (body[at] < 0 && at + 1 < body.length && shift < Long.SIZE);
    return Ints.saturatedCast(rejected);
  }
}
