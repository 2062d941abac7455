package org.traceetl.server.consume.queue;

import java.util.Arrays;
import org.traceetl.proto.thrift.ozhera.TAttributes;
import org.traceetl.proto.thrift.ozhera.TExtra;
import org.traceetl.proto.thrift.ozhera.TKind;
import org.traceetl.proto.thrift.ozhera.TResource;
import org.traceetl.proto.thrift.ozhera.TSpanData;
import org.traceetl.proto.thrift.ozhera.TStatus;
import org.traceetl.testkit.OzheraMessages;

/** A span for a test, as OzHera's agent would write it. */
final class OzheraMessage {
  private static final long START_NANOS = 1_700_000_000_000_000_000L;

  private OzheraMessage() {}

  /**
   * A server's span of a few attributes.
   *
   * @param application null for none
   */
  static byte[] of(String application, String name, long durationNanos) {
    return of(
        application,
        "10.1.2.3",
        new String[] {"service.env", "staging"},
        name,
        TKind.SERVER,
        TStatus.UNSET,
        durationNanos,
        "http.method",
        "GET",
        "http.status_code",
        "200",
        "error",
        "false");
  }

  /**
   * A span.
   *
   * @param application null for none
   * @param resource keys and values in turns
   * @param kind null for none
   * @param attributes the same; values that look like numbers or booleans are such
   */
  static byte[] of(
      String application,
      String ip,
      String[] resource,
      String name,
      TKind kind,
      TStatus status,
      long durationNanos,
      String... attributes) {
    return OzheraMessages.of(
        new TSpanData()
            .setTraceId("0af7651916cd43dd8448eb211c80319c")
            .setSpanId("b7ad6b7169203331")
            .setName(name)
            .setKind(kind)
            .setStatus(status)
            .setStartEpochNanos(START_NANOS)
            .setEndEpochNanos(START_NANOS + durationNanos)
            .setAttributes(attributes(attributes))
            .setResouce(new TResource().setAttributes(attributes(resource)))
            .setExtra(new TExtra().setIp(ip).setHostname("host").setServiceName(application)));
  }

  /** A failed span of these IDs. */
  static byte[] failed(String traceId, String spanId, long startNanos) {
    return OzheraMessages.of(
        new TSpanData()
            .setTraceId(traceId)
            .setSpanId(spanId)
            .setName("/")
            .setKind(TKind.SERVER)
            .setStatus(TStatus.ERROR)
            .setStartEpochNanos(startNanos)
            .setEndEpochNanos(startNanos + 1_000)
            .setAttributes(attributes("http.method", "GET"))
            .setExtra(new TExtra().setServiceName("shop")));
  }

  private static TAttributes attributes(String... keysAndValues) {
    Object[] typed = Arrays.copyOf(keysAndValues, keysAndValues.length, Object[].class);
    for (int i = 1; i < typed.length; i += 2) {
      String value = keysAndValues[i];
      if (value.matches("\\d{1,9}")) {
        typed[i] = Long.parseLong(value);
      } else if (value.matches("true|false")) {
        typed[i] = Boolean.parseBoolean(value);
      }
    }
    return OzheraMessages.attributes(typed);
  }
}
