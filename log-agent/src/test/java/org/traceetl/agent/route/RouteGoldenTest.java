package org.traceetl.agent.route;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.flow.SpanView;

/** Compares the routing with the recorded vectors: a change would split series. */
final class RouteGoldenTest {
  @SuppressWarnings("UnusedVariable") // Used by name as the parameters' source.
  private static final String[] VECTORS = vectors();

  @ParameterizedTest
  @FieldSource("VECTORS")
  void spansGoWhereTheyAlwaysWent(String vector) {
    String[] fields = vector.split("\t", -1);
    int queues = Integer.parseInt(fields[0]);
    String application = fields[1];
    SpanView span =
        RouterTest.span(fields[2], Integer.parseInt(fields[3]), Integer.parseInt(fields[4]));

    Route route =
        RouterTest.route(
            new Router(RoutingRules.defaults()), application, TestTopology.topology(queues));
    long hash = RouteHash.bytes(span.name, 0, span.nameLength, 0);

    assertThat(
            String.join(
                "\t",
                String.format("%016x", hash),
                String.valueOf(route.queue(0).id()),
                String.valueOf(route.queue(route.candidate(span, new SeriesHash())).id())))
        .isEqualTo(String.join("\t", fields[5], fields[6], fields[7]));
  }

  private static String[] vectors() {
    try (InputStream in = RouteGoldenTest.class.getResourceAsStream("routes.tsv")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.startsWith("#"))
          .toArray(String[]::new);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
