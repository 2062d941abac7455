package org.traceetl.server.features.rules;

import static org.traceetl.common.ConfigException.canonical;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.traceetl.proto.RulesRecord;
import org.traceetl.server.config.DocumentsConfig.Threshold;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.config.TemplatesConfig;
import org.traceetl.server.features.rules.RulesDecider.FileState;
import org.traceetl.server.features.rules.RulesDecider.Status;
import org.traceetl.server.rules.EffectiveRules;
import org.traceetl.server.rules.Rules;

/** The rules in force, and this server's file of rules. */
@RestController
public final class RulesResource {
  private static final double NANOS = 1e9;

  /**
   * What the answer is made of, besides the status.
   *
   * @param path of the file; null for none
   * @param configured rules of the configuration; null if they do not apply
   */
  public record Sources(String path, EffectiveRules configured) {}

  private final Sources sources;
  private final Supplier<Status> status;

  /** Shows a server that follows no rules. */
  public RulesResource(Sources sources) {
    this(sources, () -> Status.NONE);
  }

  RulesResource(Sources sources, Supplier<Status> status) {
    this.sources = sources;
    this.status = status;
  }

  record Answer(
      String source,
      long revision,
      Instant published,
      Waits waits,
      File file,
      List<Application> applications) {}

  /**
   * @param until null if that time has passed
   * @param formats that not all servers read, as they are named in the demand
   */
  record Waits(Instant until, List<String> formats) {
    static Waits of(RulesDecider.Waits waits) {
      return waits == null
          ? null
          : new Waits(
              waits.untilMillis() == null ? null : Instant.ofEpochMilli(waits.untilMillis()),
              Stream.of(waits.forServers() ? "labels" : null, waits.forForms() ? "forms" : null)
                  .filter(Objects::nonNull)
                  .toList());
    }
  }

  record File(String path, long revision, String state, String problem) {}

  record Application(
      String application,
      double slowerThanSeconds,
      List<Slow> thresholds,
      List<Label> dimensions,
      List<Template> templates,
      Histogram histogram,
      List<Measure> measures,
      List<Objective> objectives) {
    static Application of(String application, EffectiveRules rules) {
      return new Application(
          application,
          seconds(rules.slowerThan()),
          rules.thresholds().stream().map(Slow::of).toList(),
          rules.dimensions().stream().map(Label::of).toList(),
          rules.templates().stream().map(Template::of).toList(),
          Histogram.of(rules),
          rules.measures().stream().map(Measure::of).toList(),
          rules.objectives().stream().map(Objective::of).toList());
    }
  }

  /**
   * @param nativeSchema null without native buckets
   */
  record Histogram(String kind, List<Double> boundsMillis, Integer nativeSchema, String unit) {
    static Histogram of(EffectiveRules rules) {
      HistogramConfig of = rules.histogram();
      return new Histogram(
          canonical(of.kind().name()),
          of.kind() == HistogramConfig.Kind.NATIVE ? List.of() : of.boundsMillis(),
          of.hasNative() ? of.nativeSchema() : null,
          canonical(rules.unit().name()));
    }
  }

  record Label(String attribute, String label, String from) {
    static Label of(Dimension dimension) {
      return new Label(
          dimension.attribute(), dimension.label(), canonical(dimension.from().name()));
    }
  }

  record Template(String application, String pattern, String template) {
    static Template of(TemplatesConfig.Rule rule) {
      return new Template(rule.application(), rule.pattern(), rule.template());
    }
  }

  /**
   * @param attribute null unless it is the value
   */
  record Measure(
      String name,
      String type,
      String unit,
      String value,
      String attribute,
      List<SpanKind> kinds,
      List<String> requires,
      List<Label> dimensions,
      List<MeasureConfig.Constant> labels,
      List<Double> bounds) {
    static Measure of(MeasureConfig measure) {
      return new Measure(
          measure.name(),
          canonical(measure.type().name()),
          measure.unit(),
          canonical(measure.value().name()),
          measure.attribute(),
          measure.kinds().stream().sorted().toList(),
          measure.requires(),
          measure.dimensions().stream().map(Label::of).toList(),
          measure.labels(),
          measure.bounds());
    }
  }

  /**
   * @param fasterThanSeconds null for any duration
   * @param operation null for all
   */
  record Objective(
      String name,
      double target,
      Double fasterThanSeconds,
      String operation,
      List<SpanKind> kinds,
      long windowDays) {
    static Objective of(ObjectiveConfig objective) {
      return new Objective(
          objective.name(),
          objective.target(),
          objective.fasterThan() == null ? null : (Double) seconds(objective.fasterThan()),
          objective.operation(),
          objective.kinds().stream().sorted().toList(),
          objective.window().toDays());
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
    Status now = status.get();
    RulesRecord inForce = now.record();
    boolean isOwn = now.file() != null && now.file().state() == FileState.IN_FORCE;
    return new Answer(
        inForce.epoch() == 0 ? "configuration" : isOwn ? "file" : "record",
        inForce.epoch(),
        inForce.epoch() == 0 ? null : Instant.ofEpochMilli(inForce.decidedMillis()),
        Waits.of(now.waits()),
        now.file() == null
            ? null
            : new File(
                sources.path,
                now.file().revision(),
                canonical(now.file().state().name()),
                now.file().problem().isEmpty() ? null : now.file().problem()),
        applications(now.rules()));
  }

  private List<Application> applications(Rules rules) {
    EffectiveRules configured = sources.configured;
    if (configured == null) {
      return List.of();
    }
    return rules == null
        ? List.of(Application.of("*", configured))
        : rules.applications().stream()
            .map(of -> Application.of(of.application(), of.keys().over(configured)))
            .toList();
  }
}
