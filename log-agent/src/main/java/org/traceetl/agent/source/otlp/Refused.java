package org.traceetl.agent.source.otlp;

import io.grpc.Status;
import org.traceetl.agent.flow.Intake;

/**
 * What a sender is told when the pipeline does not take a payload.
 *
 * @param retrySeconds when to come back
 */
record Refused(Status status, int retrySeconds) {
  private static final Refused FULL =
      new Refused(
          Status.RESOURCE_EXHAUSTED.withDescription("the agent or its spool is full"),
          OtlpResponses.RETRY_FULL_SECONDS);

  /** The one who sends has its share in flight. */
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

  /** Null when the payload was taken. */
  static Refused of(Intake.Admission admission) {
    return switch (admission) {
      case ACCEPTED -> null;
      case FULL -> FULL;
      case BROKER_AWAY -> BROKER_AWAY;
      case STOPPING -> STOPPING;
    };
  }

  /** For a payload that was taken and could not be kept. */
  static Refused failed(String reason) {
    return new Refused(
        Status.UNAVAILABLE.withDescription(reason), OtlpResponses.RETRY_AWAY_SECONDS);
  }
}
