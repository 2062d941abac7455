package org.traceetl.server.ozhera.delta;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.traceetl.common.Clocks;
import org.traceetl.server.expose.FoldThread;
import org.traceetl.server.expose.Lease;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.ozhera.delta.series.DeltaText;
import org.traceetl.server.ozhera.delta.series.LabelSets;
import org.traceetl.server.window.QueueId;

/**
 * Adds windows to the sums of their queues and applies the messages of scrapers. Confined to the
 * fold thread, except {@link #totals}.
 */
final class DeltaFold implements FoldThread.Fold<DeltaMessage> {
  private final int stride;
  private final long maxPendingSeries;
  private final LongSupplier nanoClock;
  private final PositionWriter writer;
  private final DeltaText lookText;
  private final LabelSets labels = new LabelSets();
  private final Map<QueueId, QueueDeltas> queues = new TreeMap<>();
  private final ScraperSessions sessions;
  private final List<DeltaMessage.Barrier> barriers = new ArrayList<>();
  private long windows;
  private long unknownRowsReleased;
  private volatile DeltaTotals totals = DeltaTotals.NONE;

  DeltaFold(
      DeltaOptions options,
      PositionFinder finder,
      PositionWriter writer,
      LongConsumer writtenNanos,
      Clocks clocks) {
    this.writer = writer;
    stride = options.stride();
    maxPendingSeries = options.maxPendingSeries();
    nanoClock = clocks.nanoClock();
    lookText = new DeltaText(options.config().env(), "Of the newest window of each queue.");
    sessions = new ScraperSessions(options, queues.values(), finder, writer, writtenNanos, clocks);
  }

  /** Returns the latest counts. Thread-safe. */
  DeltaTotals totals() {
    return totals;
  }

  @Override
  public long idleNanos() {
    return sessions.idleNanos();
  }

  @Override
  public void apply(DeltaMessage message) {
    switch (message) {
      case DeltaMessage.Fold fold -> {
        queues.computeIfAbsent(fold.window().queue(), this::unleased).fold(fold.window());
        windows++;
      }
      case DeltaMessage.Restore restore -> {
        release(restore.queue(), new CompletableFuture<>());
        queues.put(restore.queue(), add(restore.queue(), restore.lease(), restore.image()));
      }
      case DeltaMessage.Release release -> release(release.queue(), release.done());
      case DeltaMessage.Take take -> sessions.take(take);
      case DeltaMessage.Look look -> look.answer().complete(newest(look));
      case DeltaMessage.Commit commit ->
          commit.permitted().complete(sessions.commit(commit.answer()));
      case DeltaMessage.Settle settle -> sessions.settle(settle.answer(), settle.written());
      case DeltaMessage.Located located -> sessions.located(located.found());
      case DeltaMessage.Barrier barrier -> barriers.add(barrier);
    }
  }

  @Override
  public void settle() {
    long nowNanos = nanoClock.getAsLong();
    sessions.doWork(nowNanos);
    while (count(nowNanos) > maxPendingSeries && sessions.canForget()) {
      sessions.forgetForRoom(maxPendingSeries, nowNanos);
    }
    barriers.forEach(barrier -> barrier.done().complete(null));
    barriers.clear();
  }

  @Override
  public void end(List<DeltaMessage> left, IllegalStateException ended) {
    barriers.forEach(barrier -> barrier.abandon(ended));
    sessions.abandon(ended);
    left.forEach(message -> message.abandon(ended));
  }

  /** A queue that was never restored is shown until its release, and no series of it is known. */
  private QueueDeltas unleased(QueueId queue) {
    return add(queue, Lease.untilReleased(nanoClock.getAsLong()), new QueueImage(0, stride, 1));
  }

  private QueueDeltas add(QueueId id, Lease lease, QueueImage image) {
    QueueDeltas queue = new QueueDeltas(id, lease, labels, image);
    sessions.queueAdded(queue);
    return queue;
  }

  private void release(QueueId id, CompletableFuture<Void> done) {
    QueueDeltas queue = queues.remove(id);
    if (queue == null) {
      done.complete(null);
      return;
    }
    unknownRowsReleased += queue.unknownRows();
    queue.release(done);
    writer.flushIfSettled(queue);
  }

  private Answer newest(DeltaMessage.Look look) {
    long nowNanos = nanoClock.getAsLong();
    List<Answer.Part> parts = new ArrayList<>();
    for (QueueDeltas queue : queues.values()) {
      if (queue.lease().permits(nowNanos)) {
        parts.add(queue.newest());
      }
    }
    return new Answer(null, parts, lookText, nowNanos, look.deadlineNanos(), nanoClock);
  }

  /** Publishes the counts; returns the series that are stored for scrapers. */
  private long count(long nowNanos) {
    int hidden = 0;
    long pending = 0;
    long unknownRows = unknownRowsReleased;
    for (QueueDeltas queue : queues.values()) {
      hidden += queue.lease().permits(nowNanos) ? 0 : 1;
      pending += queue.pendingSeries();
      unknownRows += queue.unknownRows();
    }
    totals = sessions.totals(queues.size(), hidden, labels.size(), pending, windows, unknownRows);
    return pending;
  }
}
