package org.traceetl.agent.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.ConfigReader;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.common.Clocks;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Against a server that answers as the API server does. */
@Timeout(120)
final class KubernetesPodsTest {
  private static final String ADDRESS = "10.1.0.7";
  private static final PodJson CHECKOUT = PodJson.of("checkout-7d4b9c6f5b-x2x4q", ADDRESS);

  private final AtomicLong laterNanos = new AtomicLong();

  @TempDir private Path directory;

  private ApiServer server;
  private KubernetesPods pods;

  @BeforeEach
  void startServer() throws IOException {
    server = new ApiServer(directory, 0);
  }

  @AfterEach
  void close() {
    if (pods != null) {
      pods.close();
    }
    server.close();
  }

  private void start() {
    create();
    await().until(() -> value("pods", "") > 0);
  }

  private void create() {
    Clocks clocks = new Clocks(() -> System.nanoTime() + laterNanos.get(), InstantSource.system());
    pods =
        new KubernetesPods(
            ConfigReader.read(server.yaml(), Map.of()).config().kubernetes(),
            clocks,
            new Random(7));
    pods.start();
  }

  private void start(PodJson... running) {
    for (PodJson pod : running) {
      server.put(pod);
    }
    start();
  }

  @Test
  void resourceOfAnAddressGetsTheAttributesOfItsPod() {
    start(CHECKOUT);

    assertThat(complete(Map.of("telemetry.sdk.language", "java"), ADDRESS))
        .containsExactly(
            entry("telemetry.sdk.language", "java"),
            entry("k8s.pod.name", "checkout-7d4b9c6f5b-x2x4q"),
            entry("k8s.namespace.name", "shop"),
            entry("k8s.pod.uid", "uid-of-checkout-7d4b9c6f5b-x2x4q"),
            entry("k8s.node.name", "node-1"),
            entry("k8s.deployment.name", "checkout"),
            entry("service.name", "checkout"),
            entry("service.version", "1.4.2"));
    assertThat(value("completed_resources_total", "")).isOne();
    assertThat(value("pods", "")).isOne();
  }

  @Test
  void attributesOfTheResourceStayExceptAMadeUpName() {
    start(CHECKOUT);

    assertThat(complete(Map.of("service.name", "shop", "service.version", "2"), ADDRESS))
        .containsEntry("service.name", "shop")
        .containsEntry("service.version", "2")
        .containsEntry("k8s.namespace.name", "shop");
    for (String madeUp : new String[] {"", "unknown_service", "unknown_service:java"}) {
      assertThat(complete(Map.of("service.name", madeUp), ADDRESS))
          .containsEntry("service.name", "checkout");
    }
    assertThat(complete(Map.of("service.name", "unknown_services"), ADDRESS))
        .containsEntry("service.name", "unknown_services");
  }

  @Test
  void containerOrPodOfTheResourcePrecedesTheSender() throws Exception {
    PodJson cart =
        PodJson.of("cart-0", "fd00:10:1::8").with(PodJson.owner("StatefulSet", "cart"), "", "");
    start(CHECKOUT, cart);

    for (Map<String, String> named :
        List.of(
            Map.of("container.id", cart.container()),
            Map.of("k8s.pod.uid", cart.uid()),
            Map.of("container.id", "unknown", "k8s.pod.uid", cart.uid()),
            Map.of("container.id", "unknown", "k8s.pod.ip", "fd00:10:1::8"),
            Map.of("container.id", "", "k8s.pod.uid", cart.uid()),
            Map.of("k8s.pod.ip", "fd00:10:1:0::8"))) {
      assertThat(complete(named, ADDRESS))
          .containsEntry("k8s.pod.name", "cart-0")
          .containsEntry("k8s.statefulset.name", "cart")
          .containsEntry("service.name", "cart");
      // A ring or a file.
      assertThat(complete(named, null)).containsEntry("k8s.pod.name", "cart-0");
    }
    assertThat(value("completed_resources_total", "")).isEqualTo(12);
    // They have been passed on by the sender.
    String unknown = "f".repeat(1_000);
    assertUnmatched(Map.of("k8s.pod.uid", unknown), ADDRESS, "unknown_id");
    assertUnmatched(Map.of("container.id", unknown, "k8s.pod.uid", "x"), ADDRESS, "unknown_id");
    assertUnmatched(Map.of("container.id", unknown, "k8s.pod.name", "x"), ADDRESS, "unknown_id");
    assertUnmatched(Map.of("container.id", unknown), null, "unknown_id");
    assertUnmatched(Map.of("k8s.pod.name", "of-another-node"), ADDRESS, "unknown_id");
    assertUnmatched(Map.of("k8s.pod.ip", "10.1.0.99"), ADDRESS, "unknown_address");
    assertUnmatched(Map.of("k8s.pod.ip", "localhost"), ADDRESS, "no_address");
    assertUnmatched(Map.of("k8s.pod.ip", "fd00:10:1::8%lo"), ADDRESS, "no_address");
    assertUnmatched(Map.of(), null, "no_address");
    assertUnmatched(Map.of(), "10.1.0.99", "unknown_address");
  }

  /** Detectors find the ID of the sandbox on many hosts, and kubelet reports containers late. */
  @Test
  void senderCountsIfOnlyTheContainerIsUnknown() throws Exception {
    start(CHECKOUT);

    for (String key : new String[] {"container.id", "k8s.pod.uid", "k8s.pod.name", "k8s.pod.ip"}) {
      assertThat(complete(Map.of(key, ""), ADDRESS)).containsEntry("service.name", "checkout");
    }
    assertThat(complete(Map.of("container.id", "of-the-sandbox"), ADDRESS))
        .containsEntry("k8s.pod.name", CHECKOUT.name())
        .containsEntry("container.id", "of-the-sandbox");
    assertUnmatched(Map.of("container.id", "unknown"), "10.1.0.99", "unknown_address");
  }

  @Test
  void workloadAndNameAreThoseOfTheConventions() {
    server.put(PodJson.of("job", "10.1.0.1").with(PodJson.owner("Job", "report-29401230"), "", ""));
    server.put(PodJson.of("daemon", "10.1.0.2").with(PodJson.owner("DaemonSet", "agent"), "", ""));
    server.put(PodJson.of("replica", "10.1.0.3").with(PodJson.owner("ReplicaSet", "bare"), "", ""));
    server.put(
        PodJson.of("annotated", "10.1.0.4")
            .with(
                "",
                "\"app.kubernetes.io/instance\":\"shop-eu\",\"app.kubernetes.io/name\":\"shop\"",
                ",\"annotations\":{\"resource.opentelemetry.io/service.name\":\"front\","
                    + "\"resource.opentelemetry.io/service.version\":\"9\"}"));
    server.put(
        PodJson.of("long", "10.1.0.5")
            .with(
                PodJson.owner("Unknown", "x"),
                "\"app.kubernetes.io/instance\":\"shop-eu\"",
                ",\"annotations\":{\"resource.opentelemetry.io/service.name\":\""
                    + "x".repeat(257)
                    + "\"}"));
    server.put(PodJson.of("plain", "10.1.0.6").with("", "", ""));
    start();

    assertThat(complete(Map.of(), "10.1.0.1"))
        .containsEntry("k8s.job.name", "report-29401230")
        .containsEntry("k8s.cronjob.name", "report")
        .containsEntry("service.name", "report");
    assertThat(complete(Map.of(), "10.1.0.2"))
        .containsEntry("k8s.daemonset.name", "agent")
        .containsEntry("service.name", "agent");
    assertThat(complete(Map.of(), "10.1.0.3"))
        .containsEntry("k8s.replicaset.name", "bare")
        .doesNotContainKey("k8s.deployment.name");
    assertThat(complete(Map.of(), "10.1.0.4"))
        .containsEntry("service.name", "front")
        .containsEntry("service.version", "9");
    assertThat(complete(Map.of(), "10.1.0.5")).containsEntry("service.name", "shop-eu");
    assertThat(complete(Map.of(), "10.1.0.6"))
        .containsEntry("service.name", "plain")
        .doesNotContainKey("service.version");
  }

  @Test
  void changesAreFollowedWithoutAnotherList() {
    start(CHECKOUT);
    PodJson cart = PodJson.of("cart", "10.1.0.8");
    server.put(cart);
    await().until(() -> complete(Map.of(), "10.1.0.8").containsValue("cart"));
    server.bookmark();
    server.endWatches();
    server.put(cart.with(PodJson.owner("DaemonSet", "carts"), "", ""));
    await().until(() -> complete(Map.of(), "10.1.0.8").containsValue("carts"));
    server.remove(cart);
    await().until(() -> !complete(Map.of(), "10.1.0.8").containsValue("carts"));

    assertThat(complete(Map.of(), ADDRESS)).containsValue("checkout");
    assertThat(server.queries()).filteredOn(query -> query.contains("&limit=")).hasSize(1);
    assertThat(server.queries())
        .allMatch(query ->
            query.startsWith(
                "fieldSelector=spec.nodeName=node-1,"
                    + "status.phase!=Succeeded,status.phase!=Failed&"));
  }

  @Test
  void addressOfAnEndedPodIsThatOfTheNextOne() {
    start(CHECKOUT);
    PodJson next = PodJson.of("next", ADDRESS).with("", "", "");
    server.put(next);
    // While both run, it is not known which one sends.
    await().until(() -> value("pods", "") == 2);
    assertUnmatched(Map.of(), ADDRESS, "unknown_address");
    assertThat(complete(Map.of("container.id", CHECKOUT.container()), ADDRESS))
        .containsEntry("k8s.pod.name", CHECKOUT.name());
    server.put(CHECKOUT.phase("Succeeded"));

    await().until(() -> complete(Map.of(), ADDRESS).containsValue("next"));
    assertThat(complete(Map.of("container.id", CHECKOUT.container()), null))
        .doesNotContainKey("k8s.pod.name");
  }

  @Test
  void addressOfADeletedPodCountsWhileAContainerRuns() {
    String deleted = ",\"deletionTimestamp\":\"2026-11-30T10:05:00Z\"";
    PodJson ending = CHECKOUT.with("", "", deleted);
    start(CHECKOUT);
    server.put(ending);
    await().until(() -> !complete(Map.of(), ADDRESS).containsValue("checkout"));
    assertThat(complete(Map.of(), ADDRESS)).containsValue(CHECKOUT.name());
    PodJson next = PodJson.of("next", ADDRESS);
    server.put(next);
    server.put(ending.phase("Pending"));

    await().until(() -> complete(Map.of(), ADDRESS).containsValue("next"));
    assertThat(complete(Map.of("k8s.pod.uid", ending.uid()), null)).containsValue(ending.name());
  }

  @Test
  void podsOnTheNodesNetworkAreNotFoundByAddress() {
    PodJson host = PodJson.of("host", "192.0.2.1").onHostNetwork();
    start(CHECKOUT, host, PodJson.of("ended", "10.1.0.9").phase("Failed"));

    assertUnmatched(Map.of(), "192.0.2.1", "unknown_address");
    assertUnmatched(Map.of("k8s.pod.ip", "192.0.2.1"), null, "unknown_address");
    assertUnmatched(Map.of(), "10.1.0.9", "unknown_address");
    assertThat(complete(Map.of("container.id", host.container()), "192.0.2.1"))
        .containsEntry("k8s.pod.name", "host");
  }

  @Test
  void listIsReadPageByPage() {
    server.pageSize(2);
    for (int i = 0; i < 5; i++) {
      server.put(PodJson.of("pod-" + i, "10.1.0." + i));
    }
    start();

    assertThat(complete(Map.of(), "10.1.0.4")).containsEntry("k8s.pod.name", "pod-4");
    assertThat(value("pods", "")).isEqualTo(5);
    assertThat(server.queries().subList(0, 3))
        .extracting(query -> query.replaceFirst(".*Failed", ""))
        .containsExactly(
            "&limit=500&resourceVersionMatch=NotOlderThan&resourceVersion=0",
            "&limit=500&continue=2",
            "&limit=500&continue=4");
  }

  @Test
  void expiredVersionLeadsToAnotherList() {
    start(CHECKOUT);
    await().until(() -> server.queries().size() == 2);
    server.remove(CHECKOUT);
    server.put(PodJson.of("next", "10.1.0.8"));
    server.compact();

    await().until(() -> complete(Map.of(), "10.1.0.8").containsValue("next"));
    await().until(() -> !complete(Map.of(), ADDRESS).containsKey("k8s.pod.name"));
    // The watch may have had both events before it ended.
    server.status(410);
    await().until(() -> value("failures_total", "expired") > 0);
    server.status(200);
    server.put(CHECKOUT);
    await().until(() -> complete(Map.of(), ADDRESS).containsValue("checkout"));
    assertThat(lists()).element(1).asString().endsWith("&limit=500");
  }

  @Test
  void laterListIsNotOlderThanWhatIsKnown() {
    start(CHECKOUT);
    server.put(PodJson.of("next", "10.1.0.8"));
    await().until(() -> complete(Map.of(), "10.1.0.8").containsValue("next"));
    server.send("[1, 2]\n");
    await().until(() -> lists().size() == 2);

    assertThat(lists().get(1)).endsWith("&resourceVersionMatch=NotOlderThan&resourceVersion=102");
  }

  private List<String> lists() {
    return server.queries().stream().filter(query -> query.contains("&limit=")).toList();
  }

  @Test
  void statusesAreCountedByReasonAndTheWatchContinuesAfterThem() {
    start(CHECKOUT);
    for (Map.Entry<Integer, String> each :
        Map.of(401, "unauthorized", 403, "forbidden", 500, "refused", 429, "refused").entrySet()) {
      double before = value("failures_total", each.getValue());
      server.status(each.getKey());
      await().until(() -> value("failures_total", each.getValue()) > before);
    }
    assertThat(complete(Map.of(), ADDRESS)).containsValue("checkout");
    server.status(200);
    server.put(PodJson.of("next", "10.1.0.8"));
    await().until(() -> complete(Map.of(), "10.1.0.8").containsValue("next"));
    assertThat(lists()).hasSize(1);
  }

  @Test
  void tokenIsReadForEachRequest() throws IOException {
    start(CHECKOUT);
    server.rotate("second-token", false);
    server.endWatches();
    await().until(() -> value("failures_total", "unauthorized") > 0);
    server.rotate("second-token", true);
    server.put(PodJson.of("next", "10.1.0.8"));
    await().until(() -> complete(Map.of(), "10.1.0.8").containsValue("next"));
  }

  @Test
  void serverOfAnUnknownAuthorityGetsNoToken() throws IOException {
    server.put(CHECKOUT);
    server.distrust();
    create();
    await().until(() -> value("failures_total", "unreachable") > 1);
    assertThat(server.queries()).isEmpty();
    assertUnmatched(Map.of(), ADDRESS, "stale");

    server.trust();
    await().until(() -> complete(Map.of(), ADDRESS).containsValue("checkout"));
  }

  @Test
  void serverMayBeAwayAtTheStart() throws IOException {
    int port = server.port();
    String yaml = server.yaml();
    server.close();
    pods =
        new KubernetesPods(
            ConfigReader.read(yaml, Map.of()).config().kubernetes(), Clocks.SYSTEM, new Random(7));
    pods.start();
    assertUnmatched(Map.of("container.id", CHECKOUT.container()), ADDRESS, "stale");
    server = new ApiServer(directory, port);
    server.put(CHECKOUT);

    await().until(() -> complete(Map.of(), ADDRESS).containsValue("checkout"));
  }

  @Test
  void addressesCountOnlyWhileTheServerAnswers() {
    start(CHECKOUT);
    server.status(500);
    await().until(() -> value("failures_total", "refused") > 0);
    laterNanos.set(TimeUnit.MINUTES.toNanos(11));

    assertUnmatched(Map.of(), ADDRESS, "stale");
    assertThat(value("answer_age_seconds", "")).isGreaterThan(600);
    // An ID is never used again.
    assertThat(complete(Map.of("container.id", CHECKOUT.container()), ADDRESS))
        .containsValue("checkout");
  }

  @Test
  void onlyPodsAndEventsAreAnswers() {
    start(CHECKOUT);
    for (String body : new String[] {"\n", "garbage", "{\"items\":[]}", "{\"metadata\":"}) {
      String label = body.isBlank() ? "refused" : "malformed";
      double before = value("failures_total", label);
      server.body(body);
      await(body).until(() -> value("failures_total", label) > before);
      laterNanos.addAndGet(TimeUnit.MINUTES.toNanos(3));
    }

    assertThat(value("answer_age_seconds", "")).isGreaterThan(600);
    assertUnmatched(Map.of(), ADDRESS, "stale");
    server.body("");
    await().until(() -> complete(Map.of(), ADDRESS).containsValue("checkout"));
  }

  @Test
  void malformedEventsLeadToAnotherList() {
    start(CHECKOUT);
    int reason = 0;
    for (String event :
        new String[] {
          "{\"type\": nothing", "[1, 2]", "{\"type\":\"ADDED\"}", "{\"type\":\"ERROR\"}\n"
        }) {
      String label = event.contains("ERROR") ? "refused" : "malformed";
      double before = value("failures_total", label);
      server.send(event + "\n");
      await(event).until(() -> value("failures_total", label) > before);
      reason++;
      server.put(PodJson.of("next-" + reason, "10.1.0.8"));
      String name = "next-" + reason;
      await()
          .until(() -> complete(Map.of("k8s.pod.uid", "uid-of-" + name), null).containsValue(name));
    }
  }

  /** Who creates a pod chooses its size; the API server accepts up to 3 MiB. */
  @Test
  void largeFieldsThatAreNotUsedAreSkipped() {
    String text = "x".repeat(3_200_000);
    String name = "x".repeat(1_500_000);
    start(CHECKOUT);
    server.put(
        PodJson.of("large", "10.1.0.8")
            .with(
                "",
                "",
                """
                ,"annotations":{"x":"%s"},"managedFields":[{"fieldsV1":{"k:{%s}":{".":{}}}}]\
                ,"finalizers":["a"%s]\
                """
                    .formatted(text, name, ",\"a\"".repeat(200_000))));

    await().until(() -> complete(Map.of(), "10.1.0.8").containsValue("large"));
    assertThat(value("failures_total", "")).isZero();
  }

  @Test
  void treeOfAPodHasOnlyWhatIsUsed() {
    PodJson pod = CHECKOUT.with("", "\"x\":\"y\"", ",\"annotations\":{\"x\":\"y\"}");
    JsonNode tree;
    try (JsonParser json = new JsonMapper().createParser(pod.json(7))) {
      json.nextToken();
      tree = UsedFields.read(json);
    }

    assertThat(tree.toString())
        .isEqualTo(
            """
            {"metadata":{"name":"checkout-7d4b9c6f5b-x2x4q","namespace":"shop",\
            "uid":"uid-of-checkout-7d4b9c6f5b-x2x4q","resourceVersion":"7","labels":{},\
            "ownerReferences":[],"annotations":{}},"spec":{"nodeName":"node-1"},\
            "status":{"phase":"Running","podIPs":[{"ip":"10.1.0.7"}],\
            "containerStatuses":[{"name":"app","containerID":"containerd://%s",\
            "state":{"running":{}}}]}}\
            """
                .formatted(pod.container()));
  }

  @Test
  void tooLongTextsAndTooManyPodsAreCounted() {
    start(CHECKOUT);
    PodJson large = PodJson.of("large", "10.1.0.8").with("", "", "").phase("x".repeat(3_200_000));
    server.put(large);
    await().until(() -> value("failures_total", "too_large") > 0);
    assertThat(complete(Map.of(), ADDRESS)).containsValue("checkout");
    server.remove(large.phase("Running"));
    server.status(500);
    for (int i = 1; i < PodWatch.MAX_PODS; i++) {
      server.put(PodJson.of("pod-" + i, "10.2." + i / 256 + "." + i % 256));
    }
    server.compact();
    server.status(200);
    await().until(() -> value("pods", "") == PodWatch.MAX_PODS);
    double before = value("failures_total", "too_large");
    server.put(PodJson.of("one-too-many", "10.1.0.8"));
    await().until(() -> value("failures_total", "too_large") > before);
    assertUnmatched(Map.of(), "10.1.0.8", "unknown_address");

    server.remove(PodJson.of("pod-1", "10.2.0.1"));
    await().until(() -> complete(Map.of(), "10.1.0.8").containsValue("one-too-many"));
    assertThat(value("pods", "")).isEqualTo(PodWatch.MAX_PODS);
  }

  private void assertUnmatched(Map<String, String> received, String sender, String reason) {
    double before = value("unmatched_resources_total", reason);
    assertThat(complete(received, sender)).isEqualTo(received);
    assertThat(value("unmatched_resources_total", reason)).isEqualTo(before + 1);
  }

  /** Returns the attributes of a completed resource in their order. */
  private Map<String, String> complete(Map<String, String> received, String sender) {
    Attributes attributes = new Attributes();
    received.forEach((key, value) -> {
      byte[] text = (key + value).getBytes(UTF_8);
      int length = key.getBytes(UTF_8).length;
      attributes.add(text, 0, length, text, length, text.length - length);
    });
    Attributes completed =
        pods.complete(attributes, sender == null ? null : InetAddress.ofLiteral(sender));
    Map<String, String> texts = new LinkedHashMap<>();
    for (int i = 0; i < completed.size(); i++) {
      texts.put(
          new String(completed.key(i), completed.keyOffset(i), completed.keyLength(i), UTF_8),
          new String(
              completed.value(i), completed.valueOffset(i), completed.valueLength(i), UTF_8));
    }
    assertThat(texts).hasSize(completed.size());
    pods.forget();
    return texts;
  }

  private double value(String name, String reason) {
    return pods.metrics().collect().stream()
        .flatMap(family -> family.samples.stream())
        .filter(sample -> sample.name.equals("trace_etl_agent_kubernetes_" + name))
        .filter(sample -> reason.isEmpty() || sample.labelValues.contains(reason))
        .mapToDouble((Sample sample) -> sample.value)
        .sum();
  }
}
