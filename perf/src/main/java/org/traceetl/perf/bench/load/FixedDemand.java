package org.traceetl.perf.bench.load;

import java.util.List;
import java.util.Map;
import org.traceetl.proto.Demand;
import org.traceetl.server.config.SeriesConfig;

/** The demand of one server whose series have the dimensions of {@link SpanStream}. */
public final class FixedDemand {
  private static final int EXEMPLAR_INTERVAL_MILLIS = 15_000;
  private static final long SLOW_NANOS = 1_000_000_000L;

  private FixedDemand() {}

  /**
   * Returns the demand.
   *
   * @param nowMillis milliseconds since 1970, above 0
   */
  public static Demand at(long nowMillis) {
    List<String> keys =
        SpanStream.DIMENSIONS.stream().map(SeriesConfig.Dimension::attribute).toList();
    Demand.Part part =
        new Demand.Part(
            nowMillis,
            nowMillis,
            false,
            EXEMPLAR_INTERVAL_MILLIS,
            keys,
            List.of(),
            SLOW_NANOS,
            List.of());
    return new Demand(nowMillis, nowMillis, Map.of("bench", part));
  }
}
