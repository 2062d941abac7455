package org.traceetl.server.ozhera;

import java.time.Duration;
import java.util.List;
import org.traceetl.common.Clocks;
import org.traceetl.server.component.Component;
import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.decode.MappedProfile;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.journal.chain.JournalComponent;
import org.traceetl.server.ozhera.delta.DeltaOptions;
import org.traceetl.server.ozhera.delta.DeltaPages;
import org.traceetl.server.ozhera.delta.http.DeltaFeature;
import org.traceetl.server.ozhera.delta.positions.BrokerPositions;
import org.traceetl.server.profile.ProfileParts;
import org.traceetl.server.telemetry.ServerTelemetry;
import org.traceetl.server.window.SeriesDefinition;

/** The parts of a server with profile ozhera. */
final class OzheraParts implements ProfileParts {
  /**
   * How far back a new owner replays windows that the previous owner did not deliver to scrapers.
   */
  private static final Duration READ_BACK = Duration.ofMinutes(5);

  /**
   * Number of sums of all series that may be stored for scrapers. Scrapers with different intervals
   * are at different positions.
   */
  private static final long PENDING_SUMS = 8;

  private final CoreConfig config;
  private final OzheraConfig own;
  private final RulesWatch rules;

  /** Reads the rules; {@link #rules} watches the file once it is started. */
  OzheraParts(CoreConfig config, OzheraConfig own) {
    this.config = config;
    this.own = own;
    rules = new RulesWatch(own.rulesFile());
  }

  private boolean givesDeltas() {
    return own.temporality() == OzheraConfig.Temporality.DELTA;
  }

  @Override
  public MappedProfile mapping() {
    return new OzheraSeries(rules);
  }

  @Override
  public List<Component> components() {
    return List.of(rules);
  }

  @Override
  public boolean showsReceivedSpans() {
    return !givesDeltas();
  }

  @Override
  public boolean addsUpWithoutQueueLabel() {
    return givesDeltas();
  }

  @Override
  public Naming naming() {
    return new OzheraNaming(config.metrics(), own);
  }

  @Override
  public Component pages(JournalComponent journal, ServerTelemetry telemetry, Clocks clocks) {
    return givesDeltas() ? new DeltaFeature(deltas(journal, telemetry, clocks), telemetry) : null;
  }

  private DeltaPages deltas(JournalComponent journal, ServerTelemetry telemetry, Clocks clocks) {
    return new DeltaPages(
        new DeltaOptions(
            own,
            config.histogram().boundsNanos().length + 1,
            config.rocketmq().consumerGroup(),
            config.window().length(),
            PENDING_SUMS * config.series().max(),
            // Far enough to include the snapshot before.
            READ_BACK.plus(config.journal().snapshotInterval())),
        new BrokerPositions(journal.logs(), journal.journals(), config.rocketmq().topic()),
        telemetry.timer(
                "trace_etl_delta_page_seconds",
                "Time from taking an answer to a scraper until its last byte is written.")
            ::recordNanos,
        clocks);
  }

  @Override
  public boolean countsEvents() {
    return false;
  }

  /** Returns true for series of calls, which have the configured buckets; others have fewer. */
  @Override
  public boolean hasBucketsOfHistory(SeriesDefinition definition) {
    String kind = definition.values().get(SeriesDefinition.SPAN_KIND);
    SpanType type = kind == null ? null : SpanType.of(Integer.parseInt(kind));
    return type != null && type.boundsMillis().equals(OzheraConfig.boundsMillis());
  }

  @Override
  public String kind(int number) {
    SpanType type = SpanType.of(number);
    return type == null ? ProfileParts.super.kind(number) : type.documentType();
  }
}
