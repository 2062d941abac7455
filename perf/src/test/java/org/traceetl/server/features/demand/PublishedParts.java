package org.traceetl.server.features.demand;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.proto.Demand;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.series.SlowThresholds;
import org.traceetl.server.series.SpanNeeds;

/** The demand of servers, without a topic. */
public final class PublishedParts {
  private static final long EPOCH = 1_767_225_600_000L;

  private PublishedParts() {}

  /** Returns what servers of these configurations publish together. */
  public static Demand of(List<ServerConfig> configs) {
    Map<String, Demand.Part> parts = new TreeMap<>();
    for (ServerConfig config : configs) {
      OwnPart own =
          OwnPart.of(
              config,
              config.feature(DemandConfig.class),
              false,
              new SpanNeeds(new SlowThresholds(config.documents()), Map.of()));
      parts.put(own.fingerprint(), own.part().at(EPOCH, EPOCH));
    }
    return new Demand(EPOCH, EPOCH, parts);
  }
}
