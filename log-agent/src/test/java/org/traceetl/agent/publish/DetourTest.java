package org.traceetl.agent.publish;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.Topology;

final class DetourTest {
  private static final Topology ALL = topology("a", "b", "c");

  private final Map<String, Double> parts = new HashMap<>();
  private final Detour detour = new Detour(10, broker -> parts.getOrDefault(broker, 0.0));

  @Test
  void brokerIsAvoidedWhenUnreachableForTheConfiguredTime() {
    assertThat(detour.around(ALL, Map.of("b", 5L), 14)).isEqualTo(ALL);
    assertThat(detour.around(ALL, Map.of("b", 5L), 15)).isEqualTo(topology("a", "c"));
    assertThat(detour.around(ALL, Map.of(), 16)).isEqualTo(ALL);
  }

  @Test
  void noBrokerIsAvoidedWhileAllAreUnreachable() {
    assertThat(detour.around(ALL, Map.of("a", 0L, "b", 4L, "c", 5L), 12)).isEqualTo(ALL);
    assertThat(detour.around(ALL, Map.of("a", 0L, "b", 4L, "c", 5L), 100)).isEqualTo(ALL);
  }

  @Test
  void brokerOverItsShareIsAvoidedUntilHalfIsLeft() {
    parts.put("b", 0.34);
    assertThat(detour.around(ALL, Map.of(), 0)).isEqualTo(topology("a", "c"));
    parts.put("b", 0.17);
    assertThat(detour.around(ALL, Map.of(), 0)).isEqualTo(topology("a", "c"));
    parts.put("b", 0.16);
    assertThat(detour.around(ALL, Map.of(), 0)).isEqualTo(ALL);
  }

  @Test
  void brokerOverItsShareIsAvoidedWhileAllAreUnreachable() {
    parts.put("b", 0.5);
    assertThat(detour.around(ALL, Map.of("a", 0L, "b", 0L, "c", 0L), 100))
        .isEqualTo(topology("a", "c"));
  }

  @Test
  void onlyBrokerIsNeverAvoided() {
    parts.put("a", 1.1);
    assertThat(detour.around(topology("a"), Map.of("a", 0L), 100)).isEqualTo(topology("a"));
  }

  private static Topology topology(String... brokers) {
    return new Topology(List.of(brokers).stream().map(name -> new BrokerQueue(name, 0)).toList());
  }
}
