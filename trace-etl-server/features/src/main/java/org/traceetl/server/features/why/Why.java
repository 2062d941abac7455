package org.traceetl.server.features.why;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Predicate;
import org.traceetl.common.Clocks;
import org.traceetl.common.WildcardPattern;
import org.traceetl.server.consume.retained.RetainedMessages;
import org.traceetl.server.log.Printable;
import org.traceetl.server.series.SpanNames;
import org.traceetl.server.window.StoredDocuments;

/**
 * Answers questions from the messages that the broker retains, or, if it has no message of an
 * interval, from the slow and failed spans of the index. One question at a time.
 */
public final class Why {
  private static final int MAX_SHOWN = 100;

  private final WhyConfig config;
  private final Function<String, SpanNames> names;
  private final int maxNameBytes;
  private final Source source;
  private final StoredDocuments index;
  private final Clocks clocks;
  private final WildcardPattern[] outcomes;
  private final LongAdder messages = new LongAdder();

  /** The sample that is being read; null for none. */
  private volatile SpanSample reading;

  /** Reads messages of spans. */
  @FunctionalInterface
  public interface Source {
    /**
     * As {@link RetainedMessages#read(Instant, Instant, RetainedMessages.Limits,
     * RetainedMessages.Reader)}.
     */
    RetainedMessages.Extent read(
        Instant from, Instant until, RetainedMessages.Limits limits, RetainedMessages.Reader reader)
        throws IOException, InterruptedException;
  }

  /**
   * @param names creates the names of an application's operations
   */
  public Why(
      WhyConfig config,
      Function<String, SpanNames> names,
      int maxNameBytes,
      Source source,
      StoredDocuments index,
      Clocks clocks) {
    this.config = config;
    this.names = names;
    this.maxNameBytes = maxNameBytes;
    this.source = source;
    this.index = index;
    this.clocks = clocks;
    outcomes = config.outcomes().stream().map(WildcardPattern::new).toArray(WildcardPattern[]::new);
  }

  /**
   * Answers a question.
   *
   * @throws IOException if the topic cannot be read, or has no spans that are asked for
   */
  public WhyAnswer answer(Question question) throws IOException, InterruptedException {
    SpanSample sample = sample(question);
    reading = sample;
    try {
      RetainedMessages.Limits limits = config.limits(question.earlier() == null ? 1 : 2);
      boolean isComplete = true;
      boolean isRetained = true;
      if (question.earlier() != null) {
        // First, as the broker deletes it first.
        sample.beginBaseline();
        isComplete =
            source
                .read(
                    question.from().minus(question.earlier()),
                    question.until().minus(question.earlier()),
                    limits,
                    sample)
                .isComplete();
        isRetained = sample.allMessages() > 0;
        sample.beginSelection();
      }
      if (isRetained || index == StoredDocuments.NONE) {
        long before = sample.allMessages();
        RetainedMessages.Extent extent =
            source.read(question.from(), question.until(), limits, sample);
        if (sample.allMessages() > before || index == StoredDocuments.NONE) {
          return answer(
              question,
              sample,
              new RetainedMessages.Extent(extent.fromMillis(), isComplete && extent.isComplete()));
        }
      }
      if (question.earlier() == null) {
        throw new NoSpans(
            "The broker no longer has messages of this interval, and the index has only slow and"
                + " failed spans: compare them with those of an earlier interval,"
                + " for example baseline=1h",
            "");
      }
      return answer(question, sample(question), limits.within());
    } finally {
      messages.add(sample.messages());
      reading = null;
    }
  }

  private SpanSample sample(Question question) {
    return new SpanSample(
        question, names.apply(question.application()), maxNameBytes, config.maxTraces());
  }

  /** Answers from the index. */
  private WhyAnswer answer(Question question, SpanSample sample, Duration within)
      throws IOException, InterruptedException {
    sample.beginBaseline();
    Duration earlier = question.earlier();
    boolean isComplete =
        read(
                question,
                question.from().minus(earlier),
                question.until().minus(earlier),
                within,
                sample)
            .isComplete();
    sample.beginSelection();
    RetainedMessages.Extent extent =
        read(question, question.from(), question.until(), within, sample);
    return answer(
        question,
        sample,
        new RetainedMessages.Extent(extent.fromMillis(), isComplete && extent.isComplete()));
  }

  /** Reads documents of an interval, the newest ones first, within the bounds of a request. */
  private RetainedMessages.Extent read(
      Question question, Instant from, Instant until, Duration within, SpanSample sample)
      throws IOException, InterruptedException {
    long endNanos = clocks.nanos() + within.toNanos();
    long[] documents = {0};
    long[] oldestNanos = {Long.MAX_VALUE};
    index.read(
        question.application(),
        question.operation(),
        unixNanos(from),
        unixNanos(until),
        document -> {
          if (documents[0] == config.maxTraces() || clocks.nanos() - endNanos >= 0) {
            oldestNanos[0] = document.startUnixNanos();
            return false;
          }
          documents[0]++;
          sample.add(document);
          return true;
        });
    boolean isComplete = oldestNanos[0] == Long.MAX_VALUE;
    return new RetainedMessages.Extent(
        isComplete ? from.toEpochMilli() : TimeUnit.NANOSECONDS.toMillis(oldestNanos[0]),
        isComplete);
  }

  private static long unixNanos(Instant time) {
    return Math.max(0, TimeUnit.MILLISECONDS.toNanos(time.toEpochMilli()));
  }

  private WhyAnswer answer(Question question, SpanSample sample, RetainedMessages.Extent extent)
      throws NoSpans {
    if (sample.operations().isEmpty()) {
      throw new NoSpans(
          "No spans of application "
              + Printable.of(question.application(), MAX_SHOWN)
              + (question.operation() == null
                  ? ""
                  : " with operation " + Printable.of(question.operation(), MAX_SHOWN))
              + (question.kind() == null ? "" : " of kind " + question.kind())
              + " are retained in this interval",
          ". The server read "
              + sample.messages()
              + " messages, which have "
              + sample.batches()
              + " batches of the application"
              + (sample.refused() == 0
                  ? ""
                  : "; it could not read " + sample.refused() + " batches"));
    }
    return new Causes(sample)
        .answer(question, extent.fromMillis(), extent.isComplete(), isOutcome());
  }

  private Predicate<String> isOutcome() {
    return key -> {
      byte[] bytes = key.getBytes(UTF_8);
      return WildcardPattern.anyMatches(outcomes, bytes, 0, bytes.length);
    };
  }

  /** How far the current request is. Any thread. */
  record Progress(boolean running, long messages, long of) {}

  Progress progress() {
    SpanSample sample = reading;
    return sample == null
        ? new Progress(false, 0, 0)
        : new Progress(true, sample.messages(), sample.allMessages());
  }

  /** Returns the messages that were read, of requests that ended. Any thread. */
  long messages() {
    return messages.sum();
  }
}
