package org.traceetl.perf.simulate.check;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Comparator;
import java.util.Map;

/**
 * The labels of a series of span metrics, without its queue.
 *
 * @param region empty for spans without it, and in series without this dimension; recorded states
 *     have none
 */
public record SeriesKey(String service, String span, String kind, String status, String region)
    implements Comparable<SeriesKey> {
  /** Key of the spans' attribute that is a dimension, and its label. */
  public static final String REGION = "region";

  private static final Comparator<SeriesKey> ORDER =
      Comparator.comparing(SeriesKey::service)
          .thenComparing(SeriesKey::span)
          .thenComparing(SeriesKey::kind)
          .thenComparing(SeriesKey::status)
          .thenComparing(SeriesKey::region);

  /** A key without a region. */
  public SeriesKey(String service, String span, String kind, String status) {
    this(service, span, kind, status, "");
  }

  static SeriesKey of(Map<String, String> labels) {
    return new SeriesKey(
        labels.getOrDefault("service_name", ""),
        labels.getOrDefault("span_name", ""),
        labels.getOrDefault("span_kind", ""),
        labels.getOrDefault("status_code", ""),
        labels.getOrDefault(REGION, ""));
  }

  /** Returns the key of the series if the region is no dimension. */
  public SeriesKey withoutRegion() {
    return region.isEmpty() ? this : new SeriesKey(service, span, kind, status);
  }

  void write(DataOutputStream to) throws IOException {
    to.writeUTF(service);
    to.writeUTF(span);
    to.writeUTF(kind);
    to.writeUTF(status);
  }

  static SeriesKey read(DataInputStream from) throws IOException {
    return new SeriesKey(from.readUTF(), from.readUTF(), from.readUTF(), from.readUTF());
  }

  @Override
  public int compareTo(SeriesKey other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return service
        + " / "
        + span
        + " / "
        + kind
        + " / "
        + status
        + (region.isEmpty() ? "" : " / " + region);
  }
}
