package org.traceetl.agent.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * A running pod.
 *
 * @param containers IDs of its containers, without the runtime's prefix
 * @param addresses its own addresses; none if it uses those of its node, or is deleted and none of
 *     its containers runs
 * @param attributes its resource attributes
 * @param serviceName whether {@code service.name} is one of them
 */
record Pod(
    String uid,
    List<String> containers,
    List<InetAddress> addresses,
    List<Attribute> attributes,
    boolean serviceName) {
  static final String SERVICE_NAME = "service.name";

  private static final String SERVICE_VERSION = "service.version";
  private static final String CRON_JOB = "k8s.cronjob.name";

  /** Longer than any name of Kubernetes and any label's value; longer annotations are left out. */
  private static final int MAX_TEXT = 256;

  private static final List<String> CONTAINERS =
      List.of("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses");

  /** The attribute of a controller's name, by its kind. */
  private static final Map<String, String> CONTROLLERS =
      Map.of(
          "ReplicaSet", "k8s.replicaset.name",
          "StatefulSet", "k8s.statefulset.name",
          "DaemonSet", "k8s.daemonset.name",
          "Job", "k8s.job.name");

  /** What a CronJob's Job has after the CronJob's name: minutes since 1970. */
  private static final String CRON_JOB_SUFFIX = "-\\d{8}";

  /** A resource attribute, as UTF-8. */
  record Attribute(byte[] key, byte[] value) {}

  Pod {
    containers = List.copyOf(containers);
    addresses = List.copyOf(addresses);
    attributes = List.copyOf(attributes);
  }

  /** Returns the UID of an object; empty if it has none. */
  static String uid(JsonNode object) {
    return text(object.path("metadata").path("uid"));
  }

  /** Reads a pod; null if it has ended, or lacks a name or UID. */
  static Pod read(JsonNode pod) {
    JsonNode status = pod.path("status");
    String phase = text(status.path("phase"));
    JsonNode metadata = pod.path("metadata");
    Map<String, String> attributes = new LinkedHashMap<>();
    put(attributes, "k8s.pod.name", text(metadata.path("name")));
    put(attributes, "k8s.namespace.name", text(metadata.path("namespace")));
    put(attributes, "k8s.pod.uid", uid(pod));
    if (attributes.size() < 3 || phase.equals("Succeeded") || phase.equals("Failed")) {
      return null;
    }
    put(attributes, "k8s.node.name", text(pod.path("spec").path("nodeName")));
    List<String> workload = workload(metadata, attributes);
    JsonNode labels = metadata.path("labels");
    JsonNode annotations = metadata.path("annotations");
    // In the order of OpenTelemetry's conventions for services in Kubernetes.
    put(attributes, SERVICE_NAME, text(annotations.path("resource.opentelemetry.io/service.name")));
    put(attributes, SERVICE_NAME, text(labels.path("app.kubernetes.io/instance")));
    put(attributes, SERVICE_NAME, text(labels.path("app.kubernetes.io/name")));
    workload.forEach(name -> put(attributes, SERVICE_NAME, name));
    put(attributes, SERVICE_NAME, attributes.get("k8s.pod.name"));
    put(
        attributes,
        SERVICE_VERSION,
        text(annotations.path("resource.opentelemetry.io/service.version")));
    put(attributes, SERVICE_VERSION, text(labels.path("app.kubernetes.io/version")));
    return new Pod(
        uid(pod),
        containers(status),
        pod.path("spec").path("hostNetwork").asBoolean(false) || isStopped(metadata, status)
            ? List.of()
            : addresses(status),
        attributes.entrySet().stream()
            .map(each ->
                new Attribute(each.getKey().getBytes(UTF_8), each.getValue().getBytes(UTF_8)))
            .toList(),
        attributes.containsKey(SERVICE_NAME));
  }

  /** Adds the attributes of what controls the pod; returns its names, the outermost first. */
  private static List<String> workload(JsonNode metadata, Map<String, String> attributes) {
    List<String> names = new ArrayList<>();
    for (JsonNode owner : metadata.path("ownerReferences")) {
      String key = CONTROLLERS.get(text(owner.path("kind")));
      String name = text(owner.path("name"));
      if (key == null || !owner.path("controller").asBoolean(false)) {
        continue;
      }
      String suffix = "-" + text(metadata.path("labels").path("pod-template-hash"));
      if (key.equals("k8s.replicaset.name") && suffix.length() > 1 && name.endsWith(suffix)) {
        name = name.substring(0, name.length() - suffix.length());
        key = "k8s.deployment.name";
      } else if (key.equals("k8s.job.name") && name.matches(".+" + CRON_JOB_SUFFIX)) {
        names.add(name.replaceFirst(CRON_JOB_SUFFIX + "$", ""));
        put(attributes, CRON_JOB, names.getFirst());
      }
      names.add(name);
      put(attributes, key, name);
    }
    return names;
  }

  private static List<String> containers(JsonNode status) {
    List<String> ids = new ArrayList<>();
    for (String kind : CONTAINERS) {
      for (JsonNode container : status.path(kind)) {
        String id = text(container.path("containerID"));
        String withoutRuntime = id.substring(id.lastIndexOf('/') + 1);
        if (!withoutRuntime.isEmpty() && ids.size() < UsedFields.MAX_ELEMENTS) {
          ids.add(withoutRuntime);
        }
      }
    }
    return ids;
  }

  /** Returns whether the address may have another pod, although this one has not ended. */
  private static boolean isStopped(JsonNode metadata, JsonNode status) {
    if (!metadata.has("deletionTimestamp")) {
      return false;
    }
    for (String kind : CONTAINERS) {
      for (JsonNode container : status.path(kind)) {
        if (container.path("state").has("running")) {
          return false;
        }
      }
    }
    return true;
  }

  private static List<InetAddress> addresses(JsonNode status) {
    List<InetAddress> addresses = new ArrayList<>();
    for (JsonNode each : status.path("podIPs")) {
      InetAddress address = address(text(each.path("ip")));
      if (address != null) {
        addresses.add(address);
      }
    }
    return addresses;
  }

  /** Returns an address; null if it is not one. Names and interfaces are not looked up. */
  static InetAddress address(String text) {
    try {
      return text.indexOf('%') < 0 ? InetAddress.ofLiteral(text) : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private static void put(Map<String, String> attributes, String key, String value) {
    if (!value.isEmpty()) {
      attributes.putIfAbsent(key, value);
    }
  }

  private static String text(JsonNode node) {
    String text = node.isString() ? node.stringValue() : "";
    return text.length() <= MAX_TEXT ? text : "";
  }
}
