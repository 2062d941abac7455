package org.traceetl.server.features.backfill;

import static org.traceetl.common.ConfigException.check;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.rocketmq.common.message.MessageExt;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.consume.queue.RetainedQueue;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.journal.log.RocketMqLog;
import org.traceetl.server.journal.log.RocketMqLogs;
import org.traceetl.server.log.Printable;
import org.traceetl.server.window.QueueId;

/**
 * Counts the retained spans of one application by other rules, and writes the samples that a
 * Prometheus would have, in files that {@code promtool} imports. Joins no consumer group and stores
 * no offset.
 *
 * <p>Queues are read in step: a pane is written when it is closed in each of them, with the sum of
 * all. The files are a function of plan and messages, so a backfill that was interrupted starts
 * again from its plan and leaves finished files as they are. For one thread and one run.
 */
public final class Backfill {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final int MAX_SHOWN = 100;

  /**
   * Messages older than the first pane by the grace and this are read, so that repeats of their
   * batches are recognized, and panes close as in a server that runs for long.
   */
  private static final Duration MARGIN = Duration.ofMinutes(10);

  private final BackfillRequest request;
  private final Clocks clocks;
  private final PrintWriter progress;
  private final long paneMillis;

  /**
   * @param progress receives lines every few seconds
   */
  public Backfill(BackfillRequest request, Clocks clocks, PrintWriter progress) {
    this.request = request;
    this.clocks = clocks;
    this.progress = progress;
    paneMillis = request.newAggregation().paneMillis();
  }

  /**
   * Writes all files that the directory does not have yet.
   *
   * @throws ConfigException if the range is invalid, or the directory has the plan of another
   *     backfill
   * @throws IOException if the topic cannot be read, lacks messages of the range or has no spans of
   *     the application, or a file cannot be written
   */
  public BackfillResult run() throws IOException, InterruptedException {
    try (OutputDirectory directory = OutputDirectory.open(request.directory());
        RocketMqLogs logs =
            new RocketMqLogs(request.rocketmq(), request.rocketmq().topic(), TIMEOUT, clocks)) {
      BackfillPlan plan = directory.plan();
      if (plan != null) {
        checkSame(plan);
        progress.println("Continues the plan in " + request.directory());
      }
      logs.start();
      if (plan == null) {
        plan = plan(logs);
        directory.write(plan);
      }
      return write(plan, directory, logs);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private void checkSame(BackfillPlan plan) {
    BackfillRequest.Range range = request.range();
    boolean isSame =
        plan.application().equals(request.application())
            && plan.since().equals(range.sinceText())
            && Objects.equals(plan.until(), range.untilText())
            && plan.fingerprint().equals(request.fingerprint());
    check(
        isSame,
        "--output",
        request.directory(),
        "has the plan of another backfill, of application "
            + Printable.of(plan.application(), MAX_SHOWN)
            + " since "
            + Printable.of(plan.since(), MAX_SHOWN)
            + "; repeat it with equal options, rules and configuration, or use an empty directory");
  }

  private BackfillPlan plan(RocketMqLogs logs) throws IOException, InterruptedException {
    BackfillRequest.Range range = request.range();
    Duration grace = request.window().grace();
    long closedMillis = paneBegin(clocks.millis() - grace.toMillis());
    long sinceMillis = paneBegin(range.since().toEpochMilli());
    long untilMillis =
        range.until() == null ? closedMillis : paneBegin(range.until().toEpochMilli());
    check(
        untilMillis <= closedMillis,
        "--until",
        range.untilText(),
        "must be at least trace-etl.window.grace ago, because later panes are not closed");
    check(
        sinceMillis < untilMillis,
        "--since",
        range.sinceText(),
        "must be at least one pane before "
            + Instant.ofEpochMilli(untilMillis)
            + ", the end of the last pane");
    String topic = request.rocketmq().topic();
    List<BackfillPlan.Queue> queues = new ArrayList<>();
    for (QueueId queue : logs.readableSpanQueues().stream().sorted().toList()) {
      RocketMqLog log = logs.open(topic, queue);
      long begin = log.begin();
      long end = log.end();
      long marginMillis = grace.plus(MARGIN).toMillis();
      long from = Math.clamp(log.offsetAt(sinceMillis - marginMillis), begin, end);
      if (from == begin && begin > 0 && from < end) {
        checkRetained(queue, log.messages(from), sinceMillis);
      }
      queues.add(new BackfillPlan.Queue(queue.broker(), queue.queue(), from, end));
    }
    if (queues.isEmpty()) {
      throw new IOException(
          "Topic " + topic + " is not known to name server " + request.rocketmq().nameServer());
    }
    return new BackfillPlan(
        request.application(),
        range.sinceText(),
        range.untilText(),
        request.fingerprint(),
        sinceMillis,
        untilMillis,
        queues);
  }

  /** Refuses a queue whose deleted messages may have spans of the range. */
  private void checkRetained(QueueId queue, List<MessageExt> oldest, long sinceMillis)
      throws IOException {
    if (!oldest.isEmpty() && oldest.getFirst().getStoreTimestamp() > sinceMillis) {
      throw new IOException(
          "The broker has messages of queue "
              + queue
              + " only since "
              + Instant.ofEpochMilli(oldest.getFirst().getStoreTimestamp())
              + "; use a later --since");
    }
  }

  private long paneBegin(long millis) {
    return Math.floorDiv(millis, paneMillis) * paneMillis;
  }

  private BackfillResult write(BackfillPlan plan, OutputDirectory directory, RocketMqLogs logs)
      throws IOException, InterruptedException {
    SpanNaming naming = request.naming();
    OpenSums sums = new OpenSums(naming.stride(), plan.sinceMillis(), plan.untilMillis());
    RefusedBatches refused = new RefusedBatches();
    List<BackfillQueue> queues = new ArrayList<>();
    for (BackfillPlan.Queue each : plan.queues()) {
      QueueId id = new QueueId(each.broker(), each.queue());
      // Each queue has limits of its own, so that they do not depend on the order of reading.
      Aggregation aggregation = request.newAggregation();
      queues.add(
          new BackfillQueue(
              id,
              logs.open(request.rocketmq().topic(), id)::messages,
              new RetainedQueue(id, aggregation, plan.application(), refused, each.from()),
              refused,
              naming,
              sums,
              each.from(),
              each.to()));
    }
    PacedReader reader =
        new PacedReader(clocks, request.bytesPerSecond(), plan.messages(), progress);
    try (SampleFiles files = new SampleFiles(directory, naming)) {
      Counters counters =
          new Counters(
              files,
              naming.stride(),
              naming.buckets(),
              paneMillis,
              request.window().idle().toMillis());
      for (long endMillis = plan.sinceMillis() + paneMillis;
          endMillis <= plan.untilMillis();
          endMillis += paneMillis) {
        for (BackfillQueue queue : queues) {
          queue.close(endMillis, reader);
        }
        counters.endPane(endMillis, sums.take(endMillis));
      }
      files.finish();
      if (counters.series() == 0) {
        throw new IOException(
            "Application "
                + Printable.of(plan.application(), MAX_SHOWN)
                + " has no spans from "
                + Instant.ofEpochMilli(plan.sinceMillis())
                + " to "
                + Instant.ofEpochMilli(plan.untilMillis())
                + " in "
                + reader.messages()
                + " messages");
      }
      return new BackfillResult(
          plan.application(),
          Instant.ofEpochMilli(plan.sinceMillis()),
          Instant.ofEpochMilli(plan.untilMillis()),
          Duration.ofMillis(paneMillis),
          plan.queues().size(),
          (int) plan.queues().stream().filter(each -> each.from() == each.to()).count(),
          plan.queues().stream().map(BackfillPlan.Queue::broker).distinct().sorted().toList(),
          reader.messages(),
          reader.bytes(),
          refused.repeated(),
          refused.size(),
          refused.toString(),
          counters.spans(),
          counters.overflowSpans(),
          counters.lackingSpans(),
          queues.stream().mapToLong(BackfillQueue::lateSpans).sum(),
          queues.stream().mapToLong(BackfillQueue::mergedSpans).sum(),
          counters.series(),
          files.samples(),
          files.files(),
          openAfter(queues, plan.untilMillis()));
    }
  }

  /** Returns null if all queues closed all panes until the end. */
  private static Instant openAfter(List<BackfillQueue> queues, long untilMillis) {
    long openAfterMillis =
        queues.stream().mapToLong(BackfillQueue::openAfterMillis).min().orElse(untilMillis);
    return openAfterMillis < untilMillis ? Instant.ofEpochMilli(openAfterMillis) : null;
  }
}
