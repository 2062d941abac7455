package org.traceetl.server.features.demand;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.KeyRule;
import org.traceetl.proto.Demand.Part;
import org.traceetl.proto.Demand.SlowRule;
import org.traceetl.server.config.SpanKind;

/** What servers need of spans, by the configurations that need it. */
@RestController
public final class DemandResource {
  private final Supplier<String> own;
  private final Supplier<Demand> current;

  /**
   * @param own gives the fingerprint of this server's part
   * @param current gives null if this server publishes no demand
   */
  public DemandResource(Supplier<String> own, Supplier<Demand> current) {
    this.own = own;
    this.current = current;
  }

  record Answer(
      String state, long version, long epoch, Instant decided, List<Configuration> parts) {}

  record Configuration(
      String fingerprint,
      boolean own,
      Instant seen,
      long version,
      boolean everything,
      double exemplarIntervalSeconds,
      List<String> spanKeys,
      List<Slow> slow,
      double slowOtherwiseSeconds,
      List<String> full,
      boolean bundles,
      boolean panes,
      boolean heartbeats,
      boolean openPanes,
      boolean sizes,
      boolean edges,
      boolean labels,
      boolean forms,
      boolean variances,
      List<String> edgeKeys,
      List<Keys> keysOfApplications) {
    static Configuration of(String fingerprint, Part part, boolean own) {
      return new Configuration(
          fingerprint,
          own,
          Instant.ofEpochMilli(part.seenMillis()),
          part.changedEpoch(),
          part.everything(),
          part.exemplarIntervalMillis() / 1e3,
          part.spanKeys(),
          part.slowRules().stream().map(Slow::of).toList(),
          part.slowOtherwiseNanos() / 1e9,
          part.full(),
          (part.formats() & Demand.BUNDLES) != 0,
          (part.formats() & Demand.PANES) != 0,
          (part.formats() & Demand.HEARTBEATS) != 0,
          (part.formats() & Demand.OPEN_PANES) != 0,
          (part.formats() & Demand.SIZES) != 0,
          (part.formats() & Demand.EDGES) != 0,
          (part.formats() & Demand.LABELS) != 0,
          (part.formats() & Demand.FORMS) != 0,
          (part.formats() & Demand.VARIANCES) != 0,
          part.edgeKeys(),
          part.keyRules().stream().map(rule -> Keys.of(rule, part.spanKeys())).toList());
    }
  }

  record Keys(String application, List<String> keys) {
    static Keys of(KeyRule rule, List<String> spanKeys) {
      return new Keys(
          rule.application(),
          IntStream.range(0, spanKeys.size())
              .filter(place -> (rule.keys() & 1L << place) != 0)
              .mapToObj(spanKeys::get)
              .toList());
    }
  }

  record Slow(String application, List<String> kinds, double seconds) {
    static Slow of(SlowRule rule) {
      SpanKind[] kinds = SpanKind.values();
      return new Slow(
          rule.application(),
          IntStream.range(0, kinds.length)
              .filter(kind -> (rule.kinds() & 1 << kind) != 0)
              .mapToObj(kind -> kinds[kind].name())
              .toList(),
          rule.nanos() / 1e9);
    }
  }

  @GetMapping("/api/demand")
  Answer demand() {
    Demand demand = current.get();
    if (demand == null) {
      return new Answer("disabled", 0, 0, null, List.of());
    }
    String fingerprint = own.get();
    return new Answer(
        demand.parts().isEmpty() ? "none" : "published",
        demand.version(),
        demand.epoch(),
        demand.epoch() == 0 ? null : Instant.ofEpochMilli(demand.decidedMillis()),
        demand.parts().entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(part ->
                Configuration.of(part.getKey(), part.getValue(), part.getKey().equals(fingerprint)))
            .toList());
  }
}
