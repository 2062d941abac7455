package org.traceetl.perf.systest.chaos;

import java.time.Duration;

/**
 * The panes of a run. The load pauses before the end of each pane, so that the pane of a span is
 * certain. A server dates a span by the broker's store time and the age that its agent stated when
 * it sent the span: the date is too late by the time that the message took to the broker.
 *
 * @param lengthMillis the servers' window length
 */
record PaneSchedule(long lengthMillis) {
  static final Duration MIN_LENGTH = Duration.ofSeconds(4);

  /** Panes of longer windows are shorter than the window. */
  static final Duration MAX_LENGTH = Duration.ofSeconds(60);

  /** The time that a message may take to the broker, at most. */
  private static final long MAX_SLACK_MILLIS = 4_000;

  private static final double SLACK_OF_LENGTH = 0.3;

  /** The time that an agent usually takes to answer. */
  private static final long ANSWER_MILLIS = 400;

  /** Times are rounded to milliseconds. */
  private static final long ROUNDING_MILLIS = 50;

  static PaneSchedule of(Duration length) {
    return new PaneSchedule(length.toMillis());
  }

  /** Returns the number of the pane of a time. */
  long paneOf(long millis) {
    return Math.floorDiv(millis, lengthMillis);
  }

  long endMillis(long pane) {
    return (pane + 1) * lengthMillis;
  }

  /** Returns the earliest pane of a span of a request that began at this time. */
  long earliest(long begunMillis) {
    return paneOf(begunMillis - ROUNDING_MILLIS);
  }

  /** Returns the latest pane of a span of a request that was answered at this time. */
  long latest(long answeredMillis) {
    return paneOf(answeredMillis + slackMillis());
  }

  long slackMillis() {
    return Math.min(MAX_SLACK_MILLIS, (long) (lengthMillis * SLACK_OF_LENGTH));
  }

  /** Returns how long a request must wait that would begin now; 0 if it may begin. */
  long pauseMillis(long nowMillis) {
    long afterMillis = Math.floorMod(nowMillis - 2 * ROUNDING_MILLIS, lengthMillis);
    return afterMillis < sendingMillis() ? 0 : lengthMillis - afterMillis;
  }

  /** Returns the part of the time in which requests may begin. */
  double sendingPart() {
    return (double) sendingMillis() / lengthMillis;
  }

  private long sendingMillis() {
    return lengthMillis - slackMillis() - ANSWER_MILLIS - 2 * ROUNDING_MILLIS;
  }
}
