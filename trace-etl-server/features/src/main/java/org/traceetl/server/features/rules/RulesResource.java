package org.traceetl.server.features.rules;

import static org.traceetl.common.ConfigException.canonical;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.traceetl.proto.RulesRecord;
import org.traceetl.server.config.DocumentsConfig.Threshold;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.features.rules.RulesDecider.FileState;
import org.traceetl.server.features.rules.RulesDecider.Status;
import org.traceetl.server.series.SlowThresholds.OfApplications;

/** The rules in force, and this server's file of rules. */
@RestController
public final class RulesResource {
  private static final double NANOS = 1e9;

  /**
   * What the answer is made of, besides the status.
   *
   * @param path of the file; null for none
   * @param thresholds those in force
   */
  public record Sources(String path, Supplier<List<OfApplications>> thresholds) {}

  private final Sources sources;
  private final Supplier<Status> status;

  /** Shows a server that follows no rules. */
  public RulesResource(Sources sources) {
    this(sources, () -> new Status(RulesRecord.NONE, null));
  }

  RulesResource(Sources sources, Supplier<Status> status) {
    this.sources = sources;
    this.status = status;
  }

  record Answer(
      String source, long revision, Instant published, File file, List<Application> applications) {}

  record File(String path, long revision, String state, String problem) {}

  record Application(String application, double slowerThanSeconds, List<Slow> thresholds) {
    static Application of(OfApplications rule) {
      return new Application(
          rule.application(),
          seconds(rule.slowerThan()),
          rule.thresholds().stream().map(Slow::of).toList());
    }
  }

  record Slow(String application, List<SpanKind> kinds, double slowerThanSeconds) {
    static Slow of(Threshold threshold) {
      return new Slow(
          threshold.application(),
          threshold.kinds().stream().sorted().toList(),
          seconds(threshold.slowerThan()));
    }
  }

  private static double seconds(Duration duration) {
    return duration.toNanos() / NANOS;
  }

  @GetMapping("/api/rules")
  Answer rules() {
    List<Application> applications =
        sources.thresholds.get().stream().map(Application::of).toList();
    Status now = status.get();
    RulesRecord inForce = now.inForce();
    boolean isOwn = now.file() != null && now.file().state() == FileState.IN_FORCE;
    return new Answer(
        inForce.epoch() == 0 ? "configuration" : isOwn ? "file" : "record",
        inForce.epoch(),
        inForce.epoch() == 0 ? null : Instant.ofEpochMilli(inForce.decidedMillis()),
        now.file() == null
            ? null
            : new File(
                sources.path,
                now.file().revision(),
                canonical(now.file().state().name()),
                now.file().problem().isEmpty() ? null : now.file().problem()),
        applications);
  }
}
