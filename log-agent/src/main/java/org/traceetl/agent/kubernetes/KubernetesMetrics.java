package org.traceetl.agent.kubernetes;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;
import org.traceetl.agent.telemetry.MetricSet;

/** Metrics of the attributes of pods. Each resource of a payload is completed or unmatched. */
final class KubernetesMetrics extends MetricSet {
  /** Why a resource got no attributes. */
  enum Unmatched {
    /** It names a container or a pod, which is not one of the node's. */
    UNKNOWN_ID,
    /** The address, the resource's or the sender's, is not that of exactly one running pod. */
    UNKNOWN_ADDRESS,
    /**
     * It names no container, and its address is malformed, or its payload is of a ring or a file.
     */
    NO_ADDRESS,
    /** The pods are not known yet, or known for too long to rely on their addresses. */
    STALE
  }

  /** Why the pods could not be read. */
  enum Failure {
    /** The API server could not be reached, was not trusted, or did not answer in time. */
    UNREACHABLE,
    /** The token was not accepted: status 401. */
    UNAUTHORIZED,
    /** The service account may not list and watch pods: status 403. */
    FORBIDDEN,
    /** The API server no longer has the version; the agent lists the pods again: status 410. */
    EXPIRED,
    /** Any other status, or a watch that ended at once without an event. */
    REFUSED,
    /** The answer was not what the API defines. */
    MALFORMED,
    /** A text was too long; or a pod was not added, because too many are known. */
    TOO_LARGE
  }

  final LongAdder completed =
      adder(
          "kubernetes_completed_resources_total",
          "Resources of payloads that were completed with the attributes of their pod.");
  final Map<Unmatched, LongAdder> unmatched =
      adders(
          Unmatched.class,
          "kubernetes_unmatched_resources_total",
          "Resources of payloads that were used as received because their pod was not known, by"
              + " reason.");
  final Map<Failure, LongAdder> failures =
      adders(
          Failure.class,
          "kubernetes_failures_total",
          "Failed attempts to read the pods of the node, by reason.");

  /** Adds the gauges. */
  void observe(DoubleSupplier pods, DoubleSupplier answerAgeSeconds) {
    gauge("kubernetes_pods", "Pods of the node that the agent knows.", pods);
    gauge(
        "kubernetes_answer_age_seconds",
        "Time since the API server last sent pods or an event; since the start before that.",
        answerAgeSeconds);
  }
}
