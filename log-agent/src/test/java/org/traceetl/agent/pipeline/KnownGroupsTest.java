package org.traceetl.agent.pipeline;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.detail.DemandedDetail;
import org.traceetl.agent.detail.Detail;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.flow.TestAttributes;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.TestTopology;
import org.traceetl.proto.Demand;

final class KnownGroupsTest {
  private static final int SPANS = 1_000_000;
  private static final byte[] SERVICE = "checkout".getBytes(UTF_8);

  private final KnownGroups groups = new KnownGroups();
  private final DemandedDetail detail =
      new Detail(
              new DetailConfig(DetailConfig.Detail.DEMAND, List.of()),
              new Demand(
                  9,
                  1,
                  Map.of(
                      "a",
                      new Demand.Part(1, 5, false, 1, List.of(), List.of(), SPANS, List.of()))))
          .of(SERVICE, 0, SERVICE.length);
  private final RoutedResource resource = resource();
  private final OpenBatch batch = new OpenBatch();
  private final SpanView span = new SpanView();

  private RoutedResource resource() {
    Attributes attributes = new Attributes();
    TestAttributes.add(attributes, "service.name", "checkout");
    RoutedResource received = new RoutedResource();
    received.set(attributes);
    return received.routed(
        new Router(RoutingRules.defaults())
            .route(SERVICE, 0, SERVICE.length, TestTopology.topology(1)),
        null,
        detail,
        null,
        detail.keySet(),
        received);
  }

  @Test
  void fewSpansAreLookedForIfNoneIsFound() {
    assertThat(lookedFor()).isBetween(SPANS / KnownGroups.PAUSE, SPANS / 10);
  }

  @Test
  void eachResourceHasItsOwnMisses() {
    lookedFor();
    assertThat(groups.isWorth(resource())).isTrue();
  }

  /** Returns how many spans, each of a new group, are looked for. */
  private int lookedFor() {
    int lookedFor = 0;
    for (int i = 0; i < SPANS; i++) {
      name(i);
      if (groups.isWorth(resource)) {
        lookedFor++;
        assertThat(groups.add(span, resource)).isNull();
      }
    }
    return lookedFor;
  }

  private void name(int number) {
    span.name = ("GET /" + number).getBytes(UTF_8);
    span.nameLength = span.name.length;
  }

  /** A batch begins without groups, so the first span of each is not found. */
  @Test
  void allSpansAreLookedForIfHalfOfABatchIsFound() {
    int newGroups = 300;
    for (int round = 0; round < 50; round++) {
      batch.open(resource, 0, false);
      resource.setOpen(0, batch);
      groups.opened(resource);
      for (int i = 0; i < 2 * newGroups; i++) {
        name(i % newGroups);
        assertThat(groups.isWorth(resource)).isTrue();
        if (groups.add(span, resource) == null) {
          batch.startGrouped(span, detail, true);
          batch.addGrouped(span, detail);
          groups.put(0, batch.lastGroup());
        } else {
          assertThat(i).isGreaterThanOrEqualTo(newGroups);
        }
      }
      assertThat(batch.spans()).isEqualTo(2 * newGroups);
    }
  }
}
