package org.traceetl.agent.kubernetes;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.traceetl.agent.config.KubernetesConfig;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.ResourceCompletion;
import org.traceetl.agent.kubernetes.KubernetesMetrics.Unmatched;
import org.traceetl.agent.kubernetes.Pod.Attribute;
import org.traceetl.agent.kubernetes.PodWatch.Pods;
import org.traceetl.agent.telemetry.MetricSet;
import org.traceetl.common.Clocks;

/**
 * Completes resources with the attributes of the pod that they come from: name, namespace, UID,
 * node, workload, and name and version of the service. Attributes that a resource has stay, except
 * a {@code service.name} that an SDK made up.
 *
 * <p>A pod is found by {@code container.id}, {@code k8s.pod.uid} or {@code k8s.pod.ip} of the
 * resource. If the resource has no UID, address or {@code k8s.pod.name} of a pod, the sender's
 * address counts. A resource that names a pod of another node has been passed on, so its sender is
 * not its origin. An unknown container says less: on many hosts detectors find the ID of the pod's
 * sandbox.
 */
public final class KubernetesPods implements ResourceCompletion, AutoCloseable {
  /**
   * Most bytes of heap: all pods with long names, 9 KiB each, twice while they are listed again;
   * and five times the longest text that is read.
   */
  public static final int HEAP_BYTES = 36 * 1024 * 1024;

  /** From this time without pods or an event on, an address may belong to another pod. */
  private static final long STALE_NANOS = TimeUnit.MINUTES.toNanos(10);

  /** How long {@link #start} waits, so that usually the first spans have their attributes. */
  private static final long START_SECONDS = 3;

  /** IDs of containers have 64 characters, UIDs 36. */
  private static final int MAX_ID_BYTES = 128;

  private static final byte[] CONTAINER_ID = "container.id".getBytes(UTF_8);
  private static final byte[] POD_UID = "k8s.pod.uid".getBytes(UTF_8);
  private static final byte[] POD_IP = "k8s.pod.ip".getBytes(UTF_8);
  private static final byte[] POD_NAME = "k8s.pod.name".getBytes(UTF_8);
  private static final byte[] SERVICE_NAME = Pod.SERVICE_NAME.getBytes(UTF_8);

  /** What SDKs set if no name is configured, often with the name of the program. */
  private static final byte[] UNKNOWN_SERVICE = "unknown_service".getBytes(UTF_8);

  private final KubernetesMetrics metrics = new KubernetesMetrics();
  private final Clocks clocks;
  private final PodWatch watch;
  // Confined to the pipeline thread.
  private final Attributes completed = new Attributes();

  /**
   * @param config enabled
   * @param random varies pauses after failures
   */
  public KubernetesPods(KubernetesConfig config, Clocks clocks, RandomGenerator random) {
    this.clocks = clocks;
    watch = new PodWatch(config, metrics, clocks, random);
    metrics.observe(
        () -> {
          Pods known = watch.pods();
          return known == null ? 0 : known.byUid().size();
        },
        () -> silentNanos() / 1e9);
  }

  /** Starts to follow the pods; waits for the first ones, but only a few seconds. */
  public void start() {
    watch.start();
    try {
      boolean unused = watch.listed().await(START_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  public MetricSet metrics() {
    return metrics;
  }

  private long silentNanos() {
    return clocks.nanos() - watch.heardNanos();
  }

  @Override
  public Attributes complete(Attributes received, InetAddress sender) {
    Pods known = watch.pods();
    if (known == null) {
      return unmatched(received, Unmatched.STALE);
    }
    int container = find(received, CONTAINER_ID);
    int uid = find(received, POD_UID);
    int address = find(received, POD_IP);
    Pod named = container < 0 ? null : known.byId().get(text(received, container));
    if (named == null && uid >= 0) {
      // The container has just started.
      named = known.byId().get(text(received, uid));
    }
    if (named != null) {
      return completed(received, named);
    }
    if (uid >= 0 || address < 0 && find(received, POD_NAME) >= 0) {
      return unmatched(received, Unmatched.UNKNOWN_ID);
    }
    InetAddress own = address < 0 ? sender : Pod.address(text(received, address));
    if (own == null) {
      return unmatched(received, container < 0 ? Unmatched.NO_ADDRESS : Unmatched.UNKNOWN_ID);
    }
    if (silentNanos() > STALE_NANOS) {
      return unmatched(received, Unmatched.STALE);
    }
    Pod pod = known.byAddress().get(own);
    return pod == null ? unmatched(received, Unmatched.UNKNOWN_ADDRESS) : completed(received, pod);
  }

  /** Returns the index of an attribute; negative if it is absent or empty. */
  private static int find(Attributes received, byte[] key) {
    int i = received.find(key);
    return i >= 0 && received.valueLength(i) == 0 ? -1 : i;
  }

  private Attributes unmatched(Attributes received, Unmatched reason) {
    metrics.unmatched.get(reason).increment();
    return received;
  }

  private Attributes completed(Attributes received, Pod pod) {
    metrics.completed.increment();
    completed.clear();
    for (int i = 0; i < received.size(); i++) {
      if (!pod.serviceName() || !isMadeUp(received, i)) {
        completed.add(
            received.key(i),
            received.keyOffset(i),
            received.keyLength(i),
            received.value(i),
            received.valueOffset(i),
            received.valueLength(i));
      }
    }
    for (Attribute each : pod.attributes()) {
      if (completed.find(each.key()) < 0) {
        completed.add(each.key(), 0, each.key().length, each.value(), 0, each.value().length);
      }
    }
    return completed;
  }

  /** Returns whether an attribute is a service's name that is empty or that an SDK has made up. */
  private static boolean isMadeUp(Attributes attributes, int i) {
    int key = attributes.keyOffset(i);
    int length = attributes.valueLength(i);
    int value = attributes.valueOffset(i);
    int unknown = UNKNOWN_SERVICE.length;
    return attributes.keyLength(i) == SERVICE_NAME.length
        && Arrays.equals(
            attributes.key(i), key, key + SERVICE_NAME.length, SERVICE_NAME, 0, SERVICE_NAME.length)
        && (length == 0
            || length >= unknown
                && Arrays.equals(
                    attributes.value(i), value, value + unknown, UNKNOWN_SERVICE, 0, unknown)
                && (length == unknown || attributes.value(i)[value + unknown] == ':'));
  }

  /** Returns a value as text, cut if it is longer than any ID. */
  private static String text(Attributes attributes, int i) {
    return new String(
        attributes.value(i),
        attributes.valueOffset(i),
        Math.min(attributes.valueLength(i), MAX_ID_BYTES),
        ISO_8859_1);
  }

  @Override
  public void forget() {
    completed.forget();
  }

  @Override
  public void close() {
    watch.close();
  }
}
