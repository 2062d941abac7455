package org.traceetl.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.IndexConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.OzheraConfig;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.features.history.History;
import org.traceetl.server.features.history.HistoryFollower;
import org.traceetl.server.features.history.SeriesRules;
import org.traceetl.server.features.index.IndexFollower;
import org.traceetl.server.features.index.IndexLag;
import org.traceetl.server.features.index.IndexTelemetry;
import org.traceetl.server.features.index.TraceIndex;
import org.traceetl.server.journal.JournalTail;
import org.traceetl.server.journal.LogJournals;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.RocketMqLogs;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.telemetry.ServerTelemetry;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/** What follows the journal at a pace of its own: the trace index and the live history. */
final class Sinks implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Sinks.class);
  private static final double MILLIS_PER_SECOND = 1_000;

  private final ServerTelemetry telemetry;
  private final Clock clock;
  private final TraceIndex index;

  /** Null where there is no index. */
  private final IndexFollower indexFollower;

  /** Null where it is disabled, as its follower. */
  private final History history;

  private final HistoryFollower historyFollower;

  /**
   * @param schema of the series that this server makes
   * @param listener told of what the whole fleet's journals have, if there is a history
   * @throws UncheckedIOException if the trace index cannot be opened
   */
  Sinks(
      ServerConfig config,
      RocketMqLogs logs,
      LogJournals journals,
      long schema,
      HistoryFollower.Listener listener,
      ServerTelemetry telemetry,
      Clock clock) {
    this.telemetry = telemetry;
    this.clock = clock;
    index = open(config.index());
    if (config.index().type() == IndexConfig.Type.NONE) {
      indexFollower = null;
    } else {
      String group = config.rocketmq().consumerGroup() + "-index";
      indexFollower =
          new IndexFollower(index, config.index(), queue -> journals.tail(queue, group), clock);
      observeIndex();
    }
    if (config.history().enabled()) {
      long[] boundsNanos = config.histogram().boundsNanos();
      history =
          new History(
              config.history().maxApplications(),
              config.history().maxOperations(),
              boundsNanos,
              clock);
      boolean ozhera = config.metrics().profile() == MetricsConfig.Profile.OZHERA;
      historyFollower =
          new HistoryFollower(
              history,
              new AllJournals(logs, journals),
              History.LENGTH.plus(config.journal().snapshotInterval()),
              new SeriesRules(
                  schema,
                  boundsNanos.length + 1,
                  !ozhera,
                  ozhera ? Sinks::isOfCalls : any -> true,
                  ozhera ? Sinks::typeOfOzhera : Sinks::kind),
              config.history().maxOperations(),
              listener,
              clock);
      observeHistory();
    } else {
      history = null;
      historyFollower = null;
    }
  }

  /** In profile ozhera series of calls have the buckets of the configuration, others have fewer. */
  private static boolean isOfCalls(SeriesDefinition definition) {
    String kind = definition.values().get(SeriesDefinition.SPAN_KIND);
    SpanType type = kind == null ? null : SpanType.of(Integer.parseInt(kind));
    return type != null && type.boundsMillis().equals(OzheraConfig.boundsMillis());
  }

  /** As pages have it. */
  private static String kind(int number) {
    SpanKind[] kinds = SpanKind.values();
    return "SPAN_KIND_" + kinds[number >= 0 && number < kinds.length ? number : 0];
  }

  private static String typeOfOzhera(int number) {
    SpanType type = SpanType.of(number);
    return type == null ? History.UNKNOWN_KIND : type.documentType();
  }

  /** The journals of the whole fleet. */
  private record AllJournals(RocketMqLogs logs, LogJournals journals)
      implements HistoryFollower.Journals {
    @Override
    public Set<QueueId> queues() throws IOException, InterruptedException {
      return logs.queues();
    }

    @Override
    public JournalTail open(QueueId queue, long sinceMillis, Consumer<QueueImage> snapshots)
        throws IOException, InterruptedException {
      return journals.tail(queue, sinceMillis, snapshots);
    }
  }

  private static TraceIndex open(IndexConfig config) {
    try {
      return TraceIndex.open(config);
    } catch (IOException e) {
      throw new UncheckedIOException("The trace index cannot be opened: " + e.getMessage(), e);
    }
  }

  TraceIndex index() {
    return index;
  }

  /** Null where it is disabled. */
  History history() {
    return history;
  }

  /** Those who are to be told which queues this process owns. */
  List<WindowFollower> followers() {
    return indexFollower == null ? List.of() : List.of(indexFollower);
  }

  /** Whether no thread has died. A store or a broker that is away is no reason. */
  boolean alive() {
    return (indexFollower == null || indexFollower.alive())
        && (historyFollower == null || historyFollower.alive());
  }

  void start() {
    if (indexFollower != null) {
      indexFollower.start();
    }
    if (historyFollower != null) {
      historyFollower.start();
    }
  }

  /** Brings into the index what the journal has: otherwise whoever comes next will do it. */
  void drain(Duration within) throws InterruptedException {
    if (indexFollower != null && !indexFollower.drain(within)) {
      log.info("The trace index is behind the journal; the next server goes on there.");
    }
  }

  @Override
  public void close() {
    if (historyFollower != null) {
      historyFollower.close();
    }
    if (indexFollower != null) {
      indexFollower.close();
    }
    index.close();
  }

  /** Each reason from the start: the first refusal is what an alert must see. */
  private Map<String, Long> droppedDocuments() {
    Map<String, Long> dropped = new HashMap<>(indexFollower.telemetry().dropped());
    IndexTelemetry.REASONS.forEach(reason -> dropped.putIfAbsent(reason, 0L));
    return dropped;
  }

  private void observeIndex() {
    telemetry.counter(
        "trace_etl_documents_written_total",
        "Documents that the trace index has kept.",
        () -> indexFollower.telemetry().written());
    telemetry.counter(
        "trace_etl_documents_dropped_total",
        "Documents that the trace index refused for good.",
        "reason",
        this::droppedDocuments);
    telemetry.counter(
        "trace_etl_documents_retried_total",
        "Documents written again after a write that failed.",
        () -> indexFollower.telemetry().retried());
    indexGauge(
        "documents_queued",
        "Documents read from the journal that are not in the trace index yet.",
        IndexTelemetry::waitingDocuments);
    indexGauge(
        "documents_queued_bytes", "Their size on the heap, roughly.", IndexTelemetry::waitingBytes);
    indexGauge(
        "index_last_error_timestamp_seconds",
        "When the trace index last failed; 0 for never.",
        status -> status.lastErrorMillis() / MILLIS_PER_SECOND);
    lagGauge(
        "lag_records",
        "Records of a queue's journal that the trace index has not dealt with, about.",
        IndexLag::records);
    lagGauge(
        "lag_seconds",
        "Age of the oldest window that the trace index has not dealt with; 0 for none.",
        lag ->
            lag.oldestMillis() == 0
                ? 0
                : Math.max(0, clock.millis() - lag.oldestMillis()) / MILLIS_PER_SECOND);
    telemetry.gauge(
        "trace_etl_index_healthy",
        "1 if the last contact with the trace index went well, else 0.",
        () -> index.healthy() ? 1 : 0);
  }

  private void indexGauge(String what, String help, Function<IndexTelemetry, Number> value) {
    telemetry.gauge(
        "trace_etl_" + what, help, () -> value.apply(indexFollower.telemetry()).doubleValue());
  }

  private void lagGauge(String what, String help, Function<IndexLag, Number> value) {
    telemetry.gauge(
        "trace_etl_index_" + what,
        help,
        "queue",
        () ->
            indexFollower.telemetry().lag().entrySet().stream()
                .collect(
                    Collectors.toMap(
                        entry -> entry.getKey().toString(),
                        entry -> value.apply(entry.getValue()))));
  }

  private void observeHistory() {
    telemetry.gauge(
        "trace_etl_history_up_to_date",
        "1 once this server's history has read the last hour of every queue.",
        () -> history.upToDate() ? 1 : 0);
    telemetry.gauge(
        "trace_etl_history_applications",
        "Applications that this server's history tells apart.",
        history::applications);
    telemetry.gauge(
        "trace_etl_history_operations",
        "Operations that this server's history tells apart: application, span name and kind.",
        history::operations);
    telemetry.counter(
        "trace_etl_history_windows_total",
        "Windows read for the history, of all queues.",
        historyFollower::windows);
    telemetry.counter(
        "trace_etl_history_unknown_rows_total",
        "Rows of windows left out of the history, as the journal no longer says whose they are.",
        historyFollower::unknownRows);
    telemetry.counter(
        "trace_etl_history_misdated_windows_total",
        "Windows left out of the history because they begin in the future.",
        history::misdated);
  }
}
