package org.traceetl.server.features.push;

import java.time.Duration;

/**
 * What a receiver of OTLP/gRPC says about another attempt: {@code google.rpc.RetryInfo} in the
 * details of a {@code google.rpc.Status}.
 *
 * @param permits whether the receiver permits another attempt
 * @param delayMillis how long it asks to wait, at most {@link #MAX_DELAY}
 */
record RetryInfo(boolean permits, long delayMillis) {
  static final RetryInfo NONE = new RetryInfo(false, 0);

  /** However long a receiver asks to wait. */
  static final Duration MAX_DELAY = Duration.ofMinutes(10);

  private static final int STATUS_DETAILS = 3;
  private static final int ANY_TYPE = 1;
  private static final int ANY_VALUE = 2;
  private static final int INFO_DELAY = 1;
  private static final int DURATION_SECONDS = 1;
  private static final int DURATION_NANOS = 2;

  /** Reads the details of a status, which may be anything. */
  static RetryInfo read(byte[] status) {
    ProtobufFields details = new ProtobufFields(status);
    while (details.next()) {
      if (details.is(STATUS_DETAILS, ProtobufFields.BYTES)) {
        RetryInfo info = ofDetail(details.message());
        if (info.permits) {
          return info;
        }
      }
    }
    return NONE;
  }

  private static RetryInfo ofDetail(ProtobufFields any) {
    String type = "";
    long delay = 0;
    while (any.next()) {
      if (any.is(ANY_TYPE, ProtobufFields.BYTES)) {
        type = any.text();
      } else if (any.is(ANY_VALUE, ProtobufFields.BYTES)) {
        delay = delayMillis(any.message());
      }
    }
    return type.endsWith("/google.rpc.RetryInfo") ? new RetryInfo(true, delay) : NONE;
  }

  private static long delayMillis(ProtobufFields info) {
    while (info.next()) {
      if (info.is(INFO_DELAY, ProtobufFields.BYTES)) {
        return millis(info.message());
      }
    }
    return 0;
  }

  private static long millis(ProtobufFields duration) {
    long seconds = 0;
    long nanos = 0;
    while (duration.next()) {
      if (duration.is(DURATION_SECONDS, ProtobufFields.VARINT)) {
        seconds = Math.clamp(duration.value(), 0, MAX_DELAY.toSeconds());
      } else if (duration.is(DURATION_NANOS, ProtobufFields.VARINT)) {
        nanos = Math.clamp(duration.value(), 0, 999_999_999L);
      }
    }
    long millis = Duration.ofSeconds(seconds, nanos).toMillis();
    return Math.min(millis, MAX_DELAY.toMillis());
  }
}
