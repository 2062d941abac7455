package org.traceetl.agent.route;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.proto.EdgeKey;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.EdgeQueues.Queues;

final class EdgeRouteTest {
  @SuppressWarnings("UnusedVariable") // Used by name as the parameters' source.
  private static final String[] VECTORS = vectors();

  /** The vectors were computed by another implementation: a change would separate halves. */
  @ParameterizedTest
  @FieldSource("VECTORS")
  void halvesGoWhereOtherProgramsExpectThem(String vector) {
    String[] fields = vector.split("\t", -1);
    EdgeRoute route = route(fields[0].split(" "));
    long key =
        EdgeKey.key(
            Long.parseUnsignedLong(fields[1].substring(0, 16), 16),
            Long.parseUnsignedLong(fields[1].substring(16), 16),
            Long.parseUnsignedLong(fields[2], 16));
    BrokerQueue queue = route.queues().get(route.place(key));

    assertThat(
            String.join(
                "\t",
                String.format("%016x", key),
                String.valueOf(EdgeKey.slot(key)),
                queue.broker() + "/" + queue.id()))
        .isEqualTo(String.join("\t", fields[3], fields[4], fields[5]));
  }

  private static String[] vectors() {
    try (InputStream in = EdgeRouteTest.class.getResourceAsStream("edge_routes.tsv")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.startsWith("#"))
          .toArray(String[]::new);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void queuesAreThoseOfTheListInOrder() {
    EdgeRoute route = route("b/7", "b/1", "a/2147483647", "a/0");

    assertThat(route.queues())
        .containsExactly(edges("a", 0), edges("a", Integer.MAX_VALUE), edges("b", 1), edges("b", 7))
        .isEqualTo(route.topology().queues());
    assertThat(route.isEmpty()).isFalse();
  }

  @Test
  void anEmptyListHasNoQueues() {
    EdgeRoute route = new EdgeRoute(new EdgeQueues(5, 1, Map.of()));

    assertThat(route.isEmpty()).isTrue();
    assertThat(route.queues()).isEmpty();
    assertThat(EdgeRoute.NONE.isEmpty()).isTrue();
  }

  /** The bound is five standard deviations of slots that are thrown at random. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 8, 16, 64})
  void slotsAreSpreadEvenly(int queues) {
    EdgeRoute route = new EdgeRoute(TestTopology.edgeQueues(queues));
    int[] slots = new int[queues];
    IntStream.range(0, EdgeKey.SLOTS).forEach(slot -> slots[route.place(firstKey(slot))]++);
    double mean = (double) EdgeKey.SLOTS / queues;

    assertThat(slots)
        .satisfies(counts ->
            assertThat(Arrays.stream(counts).asDoubleStream().boxed())
                .allSatisfy(count ->
                    assertThat(count)
                        .isBetween(mean - 5 * Math.sqrt(mean), mean + 5 * Math.sqrt(mean))));
  }

  @Test
  void allKeysOfASlotHaveOneQueue() {
    EdgeRoute route = new EdgeRoute(TestTopology.edgeQueues(16));
    for (int slot = 0; slot < EdgeKey.SLOTS; slot++) {
      long lastKey = firstKey(slot + 1) - 1;
      assertThat(route.place(lastKey)).isEqualTo(route.place(firstKey(slot)));
    }
  }

  @Test
  void aNewQueueMovesSlotsOnlyToItself() {
    EdgeRoute before = route("a/0", "a/1", "b/0", "b/1", "b/2");
    EdgeRoute after = route("a/0", "a/1", "a/2", "b/0", "b/1", "b/2");
    int moved = 0;
    for (int slot = 0; slot < EdgeKey.SLOTS; slot++) {
      BrokerQueue was = queue(before, slot);
      BrokerQueue is = queue(after, slot);
      if (!is.equals(was)) {
        assertThat(is).isEqualTo(edges("a", 2));
        moved++;
      }
    }
    assertThat(moved).isBetween(EdgeKey.SLOTS / 6 - 150, EdgeKey.SLOTS / 6 + 150);
  }

  private static BrokerQueue queue(EdgeRoute route, int slot) {
    return route.queues().get(route.place(firstKey(slot)));
  }

  private static long firstKey(int slot) {
    long key = (long) slot << Long.SIZE - Integer.numberOfTrailingZeros(EdgeKey.SLOTS);
    assertThat(EdgeKey.slot(key)).isEqualTo(slot % EdgeKey.SLOTS);
    return key;
  }

  private static EdgeRoute route(String... queues) {
    Map<String, Queues> brokers =
        Stream.of(queues)
            .map(queue -> queue.split("/"))
            .collect(
                Collectors.groupingBy(
                    parts -> parts[0],
                    TreeMap::new,
                    Collectors.collectingAndThen(
                        Collectors.mapping(
                            parts -> Integer.parseInt(parts[1]), Collectors.toList()),
                        EdgeRouteTest::sorted)));
    return new EdgeRoute(new EdgeQueues(1, 1, brokers));
  }

  private static Queues sorted(List<Integer> numbers) {
    return new Queues(
        numbers.stream().sorted(Comparator.naturalOrder()).mapToInt(number -> number).toArray());
  }

  private static BrokerQueue edges(String broker, int id) {
    return new BrokerQueue(BrokerQueue.Topic.EDGES, broker, id);
  }
}
