package org.traceetl.server.ozhera;

import static org.traceetl.common.ConfigException.check;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.profile.MappedSpansProfile;
import org.traceetl.server.profile.ProfileParts;

/** Apache OzHera's metric service: its names, labels and buckets. */
public final class OzheraProfile implements MappedSpansProfile {
  static final String ID = "ozhera";

  /**
   * Limit of applications: with 36 overflow series each, and displaced series that are still shown,
   * they and the 10,000,000 series of a process stay below the 2^24 numbers of a journal.
   */
  private static final int MAX_APPLICATIONS = 100_000;

  @Override
  public String id() {
    return ID;
  }

  @Override
  public String namespace() {
    return "hera";
  }

  @Override
  public Unit unit() {
    return Unit.MILLISECONDS;
  }

  @Override
  public List<String> labels() {
    return List.of("application", "span_name", "span_kind", "status_code");
  }

  @Override
  public HistogramConfig histogram() {
    return new HistogramConfig(OzheraConfig.boundsMillis());
  }

  @Override
  public String layout() {
    return ID;
  }

  @Override
  public boolean countsSizes() {
    return false;
  }

  @Override
  public boolean countsMeasures() {
    return false;
  }

  @Override
  public boolean countsEvents() {
    return false;
  }

  /**
   * Names are OzHera's, its pages show no exemplars, and a cumulative series keeps its labels when
   * its queue moves.
   */
  @Override
  public Map<String, String> defaults() {
    return Map.of(
        "series.templates.enabled",
        "false",
        "series.templates.learn.enabled",
        "false",
        "documents.exemplars-per-queue",
        "0",
        "metrics.queue-label",
        "always");
  }

  @Override
  public Class<OzheraConfig> settings() {
    return OzheraConfig.class;
  }

  @Override
  public OzheraConfig defaultSettings() {
    return OzheraConfig.defaults();
  }

  @Override
  public void checkNames(String namespace, Unit unit) {
    check(
        namespace.equals(namespace()),
        "trace-etl.metrics.namespace",
        namespace,
        "must be absent with profile ozhera, whose metric names begin with trace-etl.ozhera.env");
    check(
        unit == Unit.MILLISECONDS,
        "trace-etl.metrics.unit",
        unit.name().toLowerCase(Locale.ROOT),
        "must be milliseconds with profile ozhera");
  }

  /** All dimensions of series are OzHera's. */
  @Override
  public SeriesConfig checkSeries(Record own, SeriesConfig series, HistogramConfig histogram) {
    settings().cast(own).requireScrapers();
    check(
        series.dimensions().isEmpty() || series.dimensions().equals(OzheraConfig.dimensions()),
        "trace-etl.series.dimensions",
        series.dimensions().size() + " of them",
        "must be absent with profile ozhera, which has fixed labels");
    check(
        histogram.equals(histogram()),
        "trace-etl.histogram",
        "given",
        "must be absent with profile ozhera, which has fixed buckets");
    check(
        series.maxApplications() <= MAX_APPLICATIONS,
        "trace-etl.series.max-applications",
        series.maxApplications(),
        "must be at most "
            + MAX_APPLICATIONS
            + " with profile ozhera, where each application may have an overflow series"
            + " for each kind and outcome");
    return series.withDimensions(OzheraConfig.dimensions());
  }

  @Override
  public void checkFiles(Record own) {
    OzheraConfig config = settings().cast(own);
    if (config.rulesFile() != null) {
      OzheraRulesFile.read(config.rulesFile());
    }
  }

  @Override
  public ProfileParts parts(CoreConfig config) {
    return new OzheraParts(config, settings().cast(config.settings(this)));
  }
}
