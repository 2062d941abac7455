package org.traceetl.agent.kubernetes;

/**
 * A pod as the API server writes it, with the fields of the API's reference that matter here and
 * some that do not.
 *
 * @param phase its container runs only in {@code Running}
 * @param owner owner reference as JSON; empty for none
 * @param labels labels as JSON members
 * @param more further fields of the metadata as JSON, each after a comma
 */
public record PodJson(
    String name,
    String address,
    String phase,
    boolean hostNetwork,
    String owner,
    String labels,
    String more) {
  /** Returns a running pod of Deployment {@code checkout}. */
  public static PodJson of(String name, String address) {
    return new PodJson(
        name,
        address,
        "Running",
        false,
        owner("ReplicaSet", "checkout-7d4b9c6f5b"),
        "\"app.kubernetes.io/name\":\"checkout\",\"app.kubernetes.io/version\":\"1.4.2\","
            + "\"pod-template-hash\":\"7d4b9c6f5b\"",
        "");
  }

  static String owner(String kind, String name) {
    return """
    {"apiVersion":"apps/v1","kind":"%s","name":"%s","uid":"8d7ba8a5","controller":true,\
    "blockOwnerDeletion":true}\
    """
        .formatted(kind, name);
  }

  PodJson phase(String now) {
    return new PodJson(name, address, now, hostNetwork, owner, labels, more);
  }

  PodJson onHostNetwork() {
    return new PodJson(name, address, phase, true, owner, labels, more);
  }

  PodJson with(String ownerNow, String labelsNow, String moreNow) {
    return new PodJson(name, address, phase, hostNetwork, ownerNow, labelsNow, moreNow);
  }

  /** Returns the pod's UID. */
  public String uid() {
    return "uid-of-" + name;
  }

  /** Returns the ID of the pod's container. */
  public String container() {
    return "%064x".formatted(name.hashCode() & 0xffff_ffffL);
  }

  String json(int version) {
    return """
    {"metadata":{"name":"%s","generateName":"x-","namespace":"shop","uid":"%s",\
    "resourceVersion":"%d","creationTimestamp":"2026-11-30T10:00:00Z","labels":{%s},\
    "ownerReferences":[%s],"managedFields":[{"manager":"kubelet","operation":"Update",\
    "fieldsV1":{"f:status":{"f:phase":{}}}}]%s},\
    "spec":{"volumes":[],"containers":[{"name":"app","image":"checkout:1.4.2",\
    "env":[{"name":"PASSWORD","value":"hunter2"}]}],"nodeName":"node-1"%s},\
    "status":{"phase":"%s","conditions":[{"type":"Ready","status":"True"}],\
    "hostIP":"192.0.2.1","podIP":"%s","podIPs":[{"ip":"%s"}],\
    "containerStatuses":[{"name":"app","restartCount":0,"containerID":"containerd://%s",\
    "state":{"%s":{"startedAt":"2026-11-30T10:00:02Z"}}}]}}\
    """
        .formatted(
            name,
            uid(),
            version,
            labels,
            owner,
            more,
            hostNetwork ? ",\"hostNetwork\":true" : "",
            phase,
            address,
            address,
            container(),
            phase.equals("Running") ? "running" : "terminated");
  }
}
