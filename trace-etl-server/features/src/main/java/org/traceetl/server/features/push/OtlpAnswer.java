package org.traceetl.server.features.push;

/**
 * The points that a receiver did not take, by its {@code ExportMetricsServiceResponse}.
 *
 * @param rejected number of points; 0 if the answer is not such a message
 * @param message why
 */
record OtlpAnswer(long rejected, String message) {
  private static final int PARTIAL_SUCCESS = 1;
  private static final int REJECTED_POINTS = 1;
  private static final int ERROR_MESSAGE = 2;

  /**
   * Reads an answer. A receiver may send anything.
   *
   * @param body may be cut off
   */
  static OtlpAnswer read(byte[] body) {
    ProtobufFields answer = new ProtobufFields(body);
    while (answer.next()) {
      if (answer.is(PARTIAL_SUCCESS, ProtobufFields.BYTES)) {
        return read(answer.message());
      }
    }
    return new OtlpAnswer(0, "");
  }

  private static OtlpAnswer read(ProtobufFields partial) {
    long rejected = 0;
    String message = "";
    while (partial.next()) {
      if (partial.is(REJECTED_POINTS, ProtobufFields.VARINT)) {
        rejected = Math.max(0, partial.value());
      } else if (partial.is(ERROR_MESSAGE, ProtobufFields.BYTES)) {
        message = partial.text();
      }
    }
    return new OtlpAnswer(rejected, message);
  }
}
