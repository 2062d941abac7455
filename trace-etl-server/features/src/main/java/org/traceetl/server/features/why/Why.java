package org.traceetl.server.features.why;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.time.Instant;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Predicate;
import org.traceetl.common.WildcardPattern;
import org.traceetl.server.consume.retained.RetainedMessages;
import org.traceetl.server.log.Printable;
import org.traceetl.server.series.SpanNames;

/** Answers questions from the messages that the broker retains. One question at a time. */
public final class Why {
  private static final int MAX_SHOWN = 100;

  private final WhyConfig config;
  private final Function<String, SpanNames> names;
  private final int maxNameBytes;
  private final Source source;
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
  public Why(WhyConfig config, Function<String, SpanNames> names, int maxNameBytes, Source source) {
    this.config = config;
    this.names = names;
    this.maxNameBytes = maxNameBytes;
    this.source = source;
    outcomes = config.outcomes().stream().map(WildcardPattern::new).toArray(WildcardPattern[]::new);
  }

  /**
   * Answers a question.
   *
   * @throws IOException if the topic cannot be read, or has no spans that are asked for
   */
  public WhyAnswer answer(Question question) throws IOException, InterruptedException {
    SpanSample sample =
        new SpanSample(
            question, names.apply(question.application()), maxNameBytes, config.maxTraces());
    reading = sample;
    try {
      RetainedMessages.Limits limits = config.limits(question.earlier() == null ? 1 : 2);
      RetainedMessages.Extent extent =
          source.read(question.from(), question.until(), limits, sample);
      boolean isComplete = extent.isComplete();
      if (question.earlier() != null) {
        sample.beginBaseline();
        isComplete &=
            source
                .read(
                    question.from().minus(question.earlier()),
                    question.until().minus(question.earlier()),
                    limits,
                    sample)
                .isComplete();
      }
      if (sample.operations().isEmpty()) {
        throw new NoSpans(
            "No spans of application "
                + Printable.of(question.application(), MAX_SHOWN)
                + (question.operation() == null && question.kind() == null
                    ? ""
                    : " with this operation and kind")
                + " are retained in this interval",
            "; read: "
                + sample.messages()
                + " messages with "
                + sample.batches()
                + " batches of the application; refused: "
                + sample.refused());
      }
      return new Causes(sample).answer(question, extent.fromMillis(), isComplete, isOutcome());
    } finally {
      messages.add(sample.messages());
      reading = null;
    }
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
