package org.traceetl.server.expose;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/** Which families a page has, and in which of them a series stands under which labels. */
public interface Naming {
  /** Buckets of a series in windows, the one of +Inf included; no family has more. */
  int stride();

  /** Whether durations are in seconds; else in milliseconds. */
  boolean seconds();

  /** Whether pages of protobuf have classic buckets. */
  boolean classic();

  /** Which native buckets there are; null for none. */
  NativeBuckets nativeBuckets();

  /** All families in the order of the page, each at its {@link Family#index}. */
  List<Family> families();

  /** The counter of spans received by application, one of the families; null for none. */
  Family received();

  /** The families in which a series stands, as {@link Family#bit}s. */
  long families(SeriesDefinition definition);

  /**
   * The labels of a series, without braces. One at least.
   *
   * @param queue is added as a label, unless null
   */
  byte[] labels(SeriesDefinition definition, String queue);

  /**
   * The labels at {@link #received}, without braces.
   *
   * @param queue is added as a label: each queue counts its own
   */
  byte[] labels(String application, String queue);

  /**
   * The queue that a series is named after from the start, as other queues may have one like it;
   * null for none.
   *
   * @param overflow whether it is an overflow series
   */
  String queueLabel(QueueId queue, boolean overflow);

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
