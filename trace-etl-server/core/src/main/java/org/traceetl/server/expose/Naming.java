package org.traceetl.server.expose;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/** Maps series to the families of a page and to their labels. */
public interface Naming {
  /** Returns the numbers of a series in windows: its buckets, and its size if sizes are kept. */
  int stride();

  /** Returns the number of buckets of a series in windows, including +Inf. No family has more. */
  default int buckets() {
    return size() == null ? stride() : stride() - 1;
  }

  /**
   * Returns whether labels may have names with other characters than letters, digits and
   * underscores, which {@link #labels} returns in quotes.
   */
  default boolean hasUtf8Names() {
    return false;
  }

  /**
   * Returns all families, each at its {@link Family#index}. A page has them in this order, but
   * those of equal names together, under the header of the first. {@link
   * #families(SeriesDefinition)} may add families at the end.
   */
  List<Family> families();

  /**
   * Returns the counter of received spans by application, which is one of the families; null for
   * none.
   */
  Family received();

  /**
   * Returns the counter of the spans' sizes, which is one of the families; null if sizes are not
   * kept.
   */
  default Family size() {
    return null;
  }

  /** Returns the families of a series, as {@link Family#bit}s. */
  long families(SeriesDefinition definition);

  /**
   * Returns the labels of a series without braces, at least one.
   *
   * @param queue added as a label, unless null
   */
  byte[] labels(SeriesDefinition definition, String queue);

  /**
   * Returns the labels in {@link #received} without braces.
   *
   * @param queue added as a label, because each queue counts separately
   */
  byte[] labels(String application, String queue);

  /**
   * Returns the queue that the series has as a label from the start, because other queues may have
   * an equal series; null for none.
   *
   * @param overflow whether it is an overflow series
   */
  String queueLabel(QueueId queue, boolean overflow);

  /** As the other method, of a series. */
  default String queueLabel(QueueId queue, SeriesDefinition definition) {
    return queueLabel(queue, definition.overflow());
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
