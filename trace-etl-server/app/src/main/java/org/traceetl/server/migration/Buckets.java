package org.traceetl.server.migration;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Writes the bounds of classic buckets, without those that the server would refuse. */
final class Buckets {
  private static final int MAX = 256;
  private static final double NANOS_PER_MILLI = 1e6;
  private static final double MAX_MILLIS = 365 * 86_400e3;

  private Buckets() {}

  /**
   * Writes the bounds.
   *
   * @param bounds the value that has them, for messages
   * @param millis bounds in milliseconds; if none can be used, the profile's bounds apply
   */
  static void write(ServerYaml yaml, Value bounds, List<Double> millis) {
    List<Double> usable = new ArrayList<>();
    long previousNanos = 0;
    for (double bound : millis) {
      long nanos = Math.round(bound * NANOS_PER_MILLI);
      if (nanos > previousNanos && bound <= MAX_MILLIS && usable.size() < MAX) {
        usable.add(bound);
        previousNanos = nanos;
      }
    }
    if (usable.size() < millis.size()) {
      bounds
          .report()
          .gap(
              bounds,
              "loses "
                  + (millis.size() - usable.size())
                  + " of its bounds: trace-etl takes at most "
                  + MAX
                  + ", ascending, above 0 and at most a year");
    }
    if (!usable.isEmpty()) {
      yaml.put(
          "histogram",
          "bounds-millis",
          usable.stream().map(ServerYaml::number).collect(Collectors.joining(", ", "[", "]")),
          bounds.origin());
    }
  }
}
