package org.traceetl.server.decode;

import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.traceetl.server.config.RocketMqConfig;

/**
 * The message formats of a topic.
 *
 * @param batches whether there are batches of spans
 * @param singles the format of messages with a single span; null for none
 */
public record Messages(boolean batches, SpanFormat singles) {
  /** Only batches. */
  public static final Messages SPAN_BATCH = new Messages(true, null);

  /**
   * Returns the formats with a name of the configuration.
   *
   * @throws IllegalArgumentException if it is not among {@link #names}
   */
  public static Messages of(String name) {
    if (name.equals(RocketMqConfig.SPAN_BATCH)) {
      return SPAN_BATCH;
    }
    boolean any = name.equals(RocketMqConfig.ANY);
    return formats()
        .filter(format -> any || format.id().equals(name))
        .findFirst()
        .map(format -> new Messages(any, format))
        .orElseThrow(() -> new IllegalArgumentException("Unknown message format: " + name));
  }

  /** Returns the names that the configuration allows. */
  public static List<String> names() {
    return Stream.concat(
            Stream.of(RocketMqConfig.SPAN_BATCH, RocketMqConfig.ANY), formats().map(SpanFormat::id))
        .toList();
  }

  private static Stream<SpanFormat> formats() {
    return ServiceLoader.load(SpanFormat.class, Messages.class.getClassLoader()).stream()
        .map(ServiceLoader.Provider::get);
  }
}
