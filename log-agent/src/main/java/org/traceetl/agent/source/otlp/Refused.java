package org.traceetl.agent.source.otlp;

import io.grpc.Status;
import org.traceetl.agent.flow.Intake;

/**
 * The answer to a sender if the pipeline does not accept its payload.
 *
 * @param retrySeconds delay before a retry
 */
record Refused(Status status, int retrySeconds) {
  private static final Refused FULL =
      new Refused(
          Status.RESOURCE_EXHAUSTED.withDescription("the agent or its spool is full"),
          OtlpResponses.RETRY_FULL_SECONDS);

  /** The sender has its full share in flight. */
  static final Refused CLIENT_FULL =
      new Refused(
          Status.RESOURCE_EXHAUSTED.withDescription(Clients.FULL),
          OtlpResponses.RETRY_FULL_SECONDS);

  private static final Refused BROKER_AWAY =
      new Refused(
          Status.RESOURCE_EXHAUSTED.withDescription(
              "the agent does not know its topic's queues yet"),
          OtlpResponses.RETRY_AWAY_SECONDS);
  private static final Refused STOPPING =
      new Refused(
          Status.UNAVAILABLE.withDescription("the agent is stopping"),
          OtlpResponses.RETRY_AWAY_SECONDS);

  /** Returns the refusal; null if the payload was accepted. */
  static Refused of(Intake.Admission admission) {
    return switch (admission) {
      case ACCEPTED -> null;
      case FULL -> FULL;
      case BROKER_AWAY -> BROKER_AWAY;
      case STOPPING -> STOPPING;
    };
  }

  /** Returns the refusal of a payload that was accepted and could not be stored. */
  static Refused failed(String reason) {
    return new Refused(
        Status.UNAVAILABLE.withDescription(reason), OtlpResponses.RETRY_AWAY_SECONDS);
  }
}
