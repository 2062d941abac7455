package org.traceetl.server.journal.chain;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.traceetl.server.component.Component;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.rocketmq.Endpoint;

/**
 * The journal as a component of this server, which other components read and write.
 *
 * @param logs started here, and closed with the journals
 */
public record JournalComponent(BrokerLogs logs, LogJournals journals, JournalCounters counters)
    implements Component {
  @Override
  public void metrics(MetricRegistry registry) {
    registry.counter(
        "trace_etl_journal_messages_total",
        "Messages acknowledged by the journal.",
        counters::appendedMessages);
    registry.counter(
        "trace_etl_journal_bytes_total",
        "Bytes of the messages acknowledged by the journal.",
        counters::appendedBytes);
    registry.counter(
        "trace_etl_journal_rejected_total",
        "Messages and records of the journal that do not count, or have rows that do not count, or are inconsistent, each time one is read.",
        "reason",
        counters::rejections);
    registry.counter(
        "trace_etl_journal_histories_lost_total",
        "Take-overs of queues whose journal was incomplete; their counters began at 0.",
        counters::lostHistories);
  }

  @Override
  public void start(Endpoint here) {
    try {
      logs.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    journals.close();
  }
}
