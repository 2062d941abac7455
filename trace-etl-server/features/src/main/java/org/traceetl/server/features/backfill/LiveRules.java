package org.traceetl.server.features.backfill;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.chain.LogJournals;
import org.traceetl.server.window.Form;

/**
 * What servers count by the rules of a backfill, so that it ends where their series begin.
 *
 * @param logs of the journal, not started
 * @param journals of the servers' queues; closes the logs
 * @param snapshotInterval of the journal
 * @param columns dimensions of the servers' configuration
 * @param measures those of the servers' configuration
 * @param form of series that name no other one
 * @param stride numbers of a series in the servers' windows
 * @param publication of the rules
 */
public record LiveRules(
    BrokerLogs logs,
    LogJournals journals,
    Duration snapshotInterval,
    List<Dimension> columns,
    List<MeasureConfig> measures,
    Form form,
    int stride,
    Publication publication) {
  /** Finds out when the rules were published. */
  @FunctionalInterface
  public interface Publication {
    /**
     * Returns when servers published the rules, milliseconds since 1970. The logs are started.
     *
     * @throws org.traceetl.common.ConfigException if servers follow other rules
     */
    long publishedMillis() throws IOException, InterruptedException;
  }

  public LiveRules {
    columns = List.copyOf(columns);
    measures = List.copyOf(measures);
  }
}
