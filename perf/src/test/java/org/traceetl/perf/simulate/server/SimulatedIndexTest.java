package org.traceetl.perf.simulate.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.traceetl.perf.simulate.check.Document;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.perf.simulate.world.Timeline;
import org.traceetl.perf.simulate.world.World;
import org.traceetl.server.features.index.IndexConfig;
import org.traceetl.server.features.index.TraceIndex;
import org.traceetl.server.features.index.WriteResult;
import org.traceetl.server.window.TraceDocument;

class SimulatedIndexTest {
  private static final String TRACE = "0000000000000007000000000000000a";
  private static final long HOUR = TimeUnit.HOURS.toNanos(1);

  private final World world = new World(3, new Timeline(10));
  private final SimulatedIndex index = new SimulatedIndex(world);
  private final Process process = world.process("server-1");
  private TraceIndex client;

  @BeforeEach
  void open() throws IOException {
    client = index.opener(process).open(IndexConfig.defaults(), process.clocks());
  }

  private static TraceDocument document(int span, TraceDocument.Reason reason) {
    return new TraceDocument(
        TRACE, String.format("%016x", span), "shop", "GET", 2, 0, "", 1, 1, reason, Map.of());
  }

  private void run(Runnable body) {
    process.start("writer", body);
    world.run(world.nanos() + 10 * HOUR);
  }

  private WriteResult write(TraceDocument document) throws IOException {
    return client.write(List.of(document));
  }

  @Test
  void documentWrittenTwiceIsCreatedOnce() {
    run(() -> {
      try {
        write(document(1, TraceDocument.Reason.SLOW));
        assertThat(write(document(1, TraceDocument.Reason.SLOW)).kept()).isEqualTo(1);
        write(document(2, TraceDocument.Reason.ERROR));
        write(document(3, TraceDocument.Reason.EXEMPLAR));
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    });

    assertThat(index.created())
        .isEqualTo(
            Map.of(
                TRACE + "-0000000000000001",
                new Document("shop", "GET", 2, 0, 1, 1, "slow"),
                TRACE + "-0000000000000002",
                new Document("shop", "GET", 2, 0, 1, 1, "error")));
    assertThat(index.exemplars()).containsOnlyKeys(TRACE + "-0000000000000003");
    assertThat(index.repeated()).isEqualTo(1);
  }

  @Test
  void writerThatRepeatsUnderTroubleCreatesEachOnce() {
    int spans = 200;
    List<String> outcomes = new ArrayList<>();
    index.trouble(500);
    run(() -> {
      for (int span = 1; span <= spans; span++) {
        List<TraceDocument> left = List.of(document(span, TraceDocument.Reason.SLOW));
        while (!left.isEmpty()) {
          try {
            left = client.write(left).again();
            outcomes.add(left.isEmpty() ? "kept" : "again");
          } catch (IOException e) {
            outcomes.add(e.getMessage());
          }
          assertThat(client.healthy()).isEqualTo(outcomes.getLast().equals("kept"));
        }
      }
    });

    assertThat(index.created()).hasSize(spans);
    assertThat(index.repeated()).isPositive();
    assertThat(outcomes.stream().distinct()).hasSize(4);
  }

  @Test
  void indexThatIsAwayTakesNothing() {
    List<String> outcomes = new ArrayList<>();
    index.away(true);
    run(() -> {
      try {
        write(document(1, TraceDocument.Reason.SLOW));
      } catch (IOException e) {
        outcomes.add(e.getMessage());
      }
    });

    assertThat(outcomes).singleElement().asString().contains("refused");
    assertThat(index.created()).isEmpty();
  }
}
