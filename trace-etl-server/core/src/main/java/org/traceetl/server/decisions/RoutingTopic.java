package org.traceetl.server.decisions;

import java.io.IOException;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.traceetl.server.config.SigningConfig;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.QueueId;

/**
 * The topic of decisions at RocketMQ's brokers.
 *
 * @param ownQueues returns the queues that this server owns
 * @param fleetUpToDate whether the newest windows of each queue were seen
 */
public record RoutingTopic(
    BrokerLogs logs,
    String topic,
    String spanTopic,
    SigningConfig signing,
    Supplier<Set<QueueId>> ownQueues,
    BooleanSupplier fleetUpToDate)
    implements DecisionLog {
  @Override
  public QueueId place() throws IOException, InterruptedException {
    return logs.lowest(topic);
  }

  @Override
  public JournalLog open(QueueId place) {
    return new SignedLog(logs.open(topic, place), topic, signing);
  }

  @Override
  public Set<QueueId> queues() throws IOException, InterruptedException {
    return logs.spanQueues();
  }

  @Override
  public long end(QueueId queue) throws IOException, InterruptedException {
    return logs.open(spanTopic, queue).end();
  }

  @Override
  public Set<QueueId> owned() {
    return ownQueues.get();
  }

  @Override
  public boolean upToDate() {
    return fleetUpToDate.getAsBoolean();
  }
}
