package org.traceetl.server.features.backfill;

import static org.traceetl.common.ConfigException.check;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.rocketmq.common.message.MessageExt;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.consume.queue.RetainedQueue;
import org.traceetl.server.consume.retained.Patience;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.NoAnswerException;
import org.traceetl.server.log.Printable;
import org.traceetl.server.window.QueueId;

/**
 * Counts the retained spans of one application by other rules, and writes the samples that a
 * Prometheus would have, in files that {@code promtool} imports, and to a receiver. Joins no
 * consumer group and stores no offset.
 *
 * <p>Queues are read in step: a pane is written when it is closed in each of them, with the sum of
 * all. The files are a function of plan and messages, so a backfill that was interrupted starts
 * again from its plan and leaves finished files as they are. For one thread and one run.
 */
public final class Backfill {
  private static final int MAX_SHOWN = 100;
  private static final int MAX_ESTIMATED = 200_000;

  /**
   * Messages older than the first pane by the grace and this are read, so that repeats of their
   * batches are recognized, and panes close as in a server that runs for long.
   */
  private static final Duration MARGIN = Duration.ofMinutes(10);

  private final BackfillRequest request;
  private final SpanTopic topic;
  private final Clocks clocks;
  private final PrintWriter progress;
  private final Patience patience;
  private final long paneMillis;

  /** Null if the range has its end. */
  private final LiveSeries live;

  /**
   * @param progress receives lines every few seconds
   */
  public Backfill(BackfillRequest request, SpanTopic topic, Clocks clocks, PrintWriter progress) {
    this.request = request;
    this.topic = topic;
    this.clocks = clocks;
    this.progress = progress;
    patience = new Patience(Patience.OF_COMMAND, clocks, progress);
    paneMillis = request.newAggregation().paneMillis();
    live =
        request.live() == null
            ? null
            : new LiveSeries(
                request.live(),
                request.application(),
                request.series().dimensions(),
                request.measures(),
                SpanNaming.form(request.histogram(), request.metrics().unit()));
  }

  /**
   * Writes all files that the directory does not have yet.
   *
   * @throws ConfigException if the range is invalid, servers follow other rules, or the directory
   *     has the plan of another backfill
   * @throws IOException if the topic cannot be read, lacks messages of the range or has no spans of
   *     the application, or a file cannot be written
   */
  public BackfillResult run() throws IOException, InterruptedException {
    if (live != null) {
      LiveSeries.checkBuckets(request.live().stride() == request.naming().stride());
    }
    try (BrokerLogs logs = topic.logs();
        OutputDirectory directory = OutputDirectory.open(request.directory())) {
      BackfillPlan plan = directory.plan();
      if (plan != null) {
        checkSame(plan);
        progress.println("Continues the plan in " + request.directory());
      }
      logs.start();
      if (live != null) {
        request.live().logs().start();
      }
      if (plan == null) {
        plan = patience.await(() -> plan(logs));
        directory.write(plan);
      }
      return write(plan, directory, logs);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    } finally {
      if (live != null) {
        request.live().journals().close();
      }
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

  private BackfillPlan plan(BrokerLogs logs) throws IOException, InterruptedException {
    BackfillRequest.Range range = request.range();
    Duration grace = request.window().grace();
    long closedMillis = paneBegin(clocks.millis() - grace.toMillis());
    long sinceMillis = paneBegin(range.since().toEpochMilli());
    Seam seam = live == null ? null : seam(queues(logs), closedMillis);
    long untilMillis =
        seam != null
            ? seam.untilMillis()
            : range.until() == null ? closedMillis : paneBegin(range.until().toEpochMilli());
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
    List<BackfillPlan.Queue> queues = new ArrayList<>();
    for (QueueId queue : queues(logs)) {
      JournalLog log = logs.open(request.rocketmq().topic(), queue);
      long begin = log.begin();
      long end = log.end();
      long marginMillis = grace.plus(MARGIN).toMillis();
      long from = Math.clamp(log.offsetAt(sinceMillis - marginMillis), begin, end);
      if (from == begin && begin > 0 && from < end) {
        checkRetained(queue, topic.open().apply(queue).read(from), sinceMillis);
      }
      queues.add(
          new BackfillPlan.Queue(
              queue.broker(), queue.queue(), from, Math.clamp(to(seam, queue, end), from, end)));
    }
    return new BackfillPlan(
        request.application(),
        range.sinceText(),
        range.untilText(),
        request.fingerprint(),
        sinceMillis,
        untilMillis,
        queues,
        seam);
  }

  /** Returns the queues of the spans in a fixed order; at least one. */
  private List<QueueId> queues(BrokerLogs logs) throws IOException, InterruptedException {
    List<QueueId> queues = logs.readableSpanQueues().stream().sorted().toList();
    if (queues.isEmpty()) {
      // As long as no broker of the topic is registered, it looks as if it did not exist.
      throw new NoAnswerException(
          "Topic "
              + request.rocketmq().topic()
              + " is not known to name server "
              + request.rocketmq().nameServer(),
          null);
    }
    return queues;
  }

  private Seam seam(List<QueueId> queues, long closedMillis)
      throws IOException, InterruptedException {
    Set<QueueId> journals = request.live().logs().queues();
    return live.find(queues.stream().filter(journals::contains).toList(), closedMillis);
  }

  /** Returns the offset after the last message to read of a queue: the end without live counts. */
  private static long to(Seam seam, QueueId queue, long end) {
    return seam == null
        ? end
        : seam.ends().stream()
            .filter(each -> queue.equals(new QueueId(each.broker(), each.queue())))
            .mapToLong(Seam.End::to)
            .findFirst()
            .orElse(end);
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

  private BackfillResult write(BackfillPlan plan, OutputDirectory directory, BrokerLogs logs)
      throws IOException, InterruptedException {
    SpanNaming naming = request.naming();
    Seam seam = plan.seam();
    OpenSums sums = patience.await(() -> sums(plan, naming));
    News news = seam == null ? News.NONE : live.news(seam);
    long seamMillis = seam == null ? Long.MAX_VALUE : seam.millis();
    RefusedBatches refused = new RefusedBatches();
    SampleEstimates estimates =
        new SampleEstimates(naming, plan.sinceMillis(), plan.untilMillis(), MAX_ESTIMATED);
    List<BackfillQueue> queues = new ArrayList<>();
    for (BackfillPlan.Queue each : plan.queues()) {
      QueueId id = new QueueId(each.broker(), each.queue());
      // Each queue has limits of its own, so that they do not depend on the order of reading.
      Aggregation aggregation = request.newAggregation();
      queues.add(
          new BackfillQueue(
              id,
              topic.open().apply(id),
              new RetainedQueue(id, aggregation, plan.application(), refused, each.from()),
              refused,
              new WindowSums(sums, false, definition -> new SeriesKey(definition, naming, news)),
              estimates
              .new Queue(
                  RetainedQueue.ofSample(
                      id,
                      request.newAggregation(),
                      plan.application(),
                      new SpanPipelineMetrics(),
                      each.from())),
              each.from(),
              each.to()));
    }
    PacedReader reader =
        new PacedReader(
            clocks, request.bytesPerSecond(), plan.messages(), lag(plan, logs), patience, progress);
    try (SampleFiles files = new SampleFiles(directory, naming)) {
      SentSamples sent =
          request.receiver() == null
              ? null
              : new SentSamples(directory, request.receiver(), clocks.nanoClock());
      Counters counters =
          new Counters(
              files,
              sent,
              naming.stride(),
              naming.buckets(),
              paneMillis,
              request.window().idle().toMillis(),
              seamMillis);
      long stragglers = 0;
      for (long endMillis = plan.sinceMillis() + paneMillis;
          endMillis <= plan.untilMillis();
          endMillis += paneMillis) {
        for (BackfillQueue queue : queues) {
          queue.close(endMillis, reader);
        }
        Map<SeriesKey, Totals> pane = sums.take(endMillis);
        if (endMillis > seamMillis) {
          // Live series have all others.
          pane.keySet().removeIf(key -> !key.isNew());
          stragglers +=
              pane.entrySet().stream()
                  .filter(each -> each.getKey().isOfSpans())
                  .mapToLong(each -> each.getValue().spans(naming.buckets()))
                  .sum();
        }
        counters.endPane(endMillis, pane);
        estimates.addExact(pane);
        if (sent != null) {
          sent.endPane(endMillis);
        }
      }
      files.finish();
      if (sent != null) {
        sent.finish(plan.untilMillis());
      }
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
                + " messages"
                + (refused.size() == 0 ? "" : "; refused batches: " + refused));
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
          counters.lackingSpans() == 0 ? List.of() : estimates.estimates(),
          counters.values(),
          refused.valuesLeftOut(),
          queues.stream().mapToLong(BackfillQueue::lateSpans).sum(),
          queues.stream().mapToLong(BackfillQueue::mergedSpans).sum(),
          counters.series(),
          files.samples(),
          files.files(),
          openAfter(queues, plan.untilMillis()),
          seam == null
              ? null
              : new BackfillResult.AtSeam(
                  Instant.ofEpochMilli(seamMillis),
                  seam.shown(!naming.hasUtf8Names()),
                  stragglers,
                  sums.owedSpans(naming.buckets())),
          request.receiver() == null
              ? null
              : new BackfillResult.Sent(
                  request.receiver().written(), request.receiver().refused()));
    }
  }

  /** Returns the sums of the panes without spans, less what live series counted. */
  private OpenSums sums(BackfillPlan plan, SpanNaming naming)
      throws IOException, InterruptedException {
    OpenSums sums =
        new OpenSums(
            naming.stride(),
            request.histogram().hasNative(),
            plan.sinceMillis(),
            plan.untilMillis());
    if (plan.seam() != null) {
      live.takeFrom(sums, naming, plan.seam());
    }
    return sums;
  }

  private LiveLag lag(BackfillPlan plan, BrokerLogs logs) {
    return new LiveLag(
        plan.queues().stream()
            .map(each ->
                logs.open(request.rocketmq().topic(), new QueueId(each.broker(), each.queue())))
            .toList(),
        request.rocketmq().consumerGroup(),
        logs::members,
        request.window().length(),
        clocks.wall());
  }

  /** Returns null if all queues closed all panes until the end. */
  private static Instant openAfter(List<BackfillQueue> queues, long untilMillis) {
    long openAfterMillis =
        queues.stream().mapToLong(BackfillQueue::openAfterMillis).min().orElse(untilMillis);
    return openAfterMillis < untilMillis ? Instant.ofEpochMilli(openAfterMillis) : null;
  }
}
