package org.traceetl.perf.simulate.check;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Comparator;
import java.util.Map;

/** The labels of a series of span metrics, without its queue. */
public record SeriesKey(String service, String span, String kind, String status)
    implements Comparable<SeriesKey> {
  private static final Comparator<SeriesKey> ORDER =
      Comparator.comparing(SeriesKey::service)
          .thenComparing(SeriesKey::span)
          .thenComparing(SeriesKey::kind)
          .thenComparing(SeriesKey::status);

  static SeriesKey of(Map<String, String> labels) {
    return new SeriesKey(
        labels.getOrDefault("service_name", ""),
        labels.getOrDefault("span_name", ""),
        labels.getOrDefault("span_kind", ""),
        labels.getOrDefault("status_code", ""));
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
    return service + " / " + span + " / " + kind + " / " + status;
  }
}
