package org.traceetl.agent.source.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.RingConfig;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.telemetry.AgentMetrics;
import org.traceetl.proto.ring.RingLayout;
import org.traceetl.proto.ring.RingSpan;
import org.traceetl.proto.ring.RingWriter;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
final class RingSourceTest {
  @TempDir private Path temporary;

  private final MemoryIntake intake = new MemoryIntake();
  private final List<RingWriter> writers = new ArrayList<>();
  private RingConfig config;
  private AgentMetrics metrics;
  private RingSource source;

  @AfterEach
  void close() throws IOException {
    if (source != null) {
      source.close();
    }
    for (RingWriter writer : writers) {
      writer.close();
    }
  }

  @Test
  void spansOfARingArriveOnceWithTheirResource() throws Exception {
    start();
    RingWriter writer = writer(1, RingWriter.Shape.smallest("checkout"));
    write(writer, 1, 100);

    await().until(() -> intake.ids().equals(ids(1, 100)));
    assertThat(intake.resources().getFirst()).isEqualTo(Map.of("service.name", "checkout"));
    assertThat(intake.spans().getFirst())
        .isEqualTo(new MemoryIntake.Seen(1, "GET /1", Map.of("http.response.status_code", "200")));
  }

  @Test
  void aRingThatWasThereBeforeTheAgentIsReadFromItsBeginning() throws Exception {
    start();
    source.close();
    RingWriter writer = writer(1, RingWriter.Shape.smallest("checkout"));
    write(writer, 1, 3);

    start();

    await().until(() -> intake.ids().equals(ids(1, 3)));
  }

  @Test
  void aRingGoesRoundManyTimes() throws Exception {
    start();
    RingWriter writer = writer(1, RingWriter.Shape.smallest("checkout"));
    writeAsThereIsRoom(writer, 1, 20_000);

    await().until(() -> intake.size() == 20_000);
    assertThat(intake.ids()).isEqualTo(ids(1, 20_000));
  }

  @Test
  void aSleepingAgentIsWokenBySpans() throws Exception {
    start();
    RingWriter writer = writer(1, RingWriter.Shape.smallest("checkout"));
    for (int number = 1; number <= 3; number++) {
      awaitSleep(writer);
      write(writer, number, number);
      int last = number;
      await().until(() -> intake.ids().equals(ids(1, last)));
    }
    assertThat(metric("ring_wakes_total")).isPositive();
  }

  @Test
  void aClaimHoldsBackWhatIsBehindItUntilItIsCommitted() throws Exception {
    start();
    RingWriter writer = writer(1, RingWriter.Shape.smallest("checkout"));
    byte[] body = writer.body(RingSpan.numbered(1));
    long claim = writer.claim(8 + body.length);
    write(writer, 2, 3);
    awaitSleep(writer);
    assertThat(intake.ids()).isEmpty();

    writer.begin(claim, 8 + body.length);
    writer.commit(claim, RingLayout.TYPE_SPAN, body);

    await().until(() -> intake.ids().equals(ids(1, 3)));
  }

  @Test
  void recordsOfOtherTypesArePassedOver() throws Exception {
    start();
    RingWriter writer = writer(1, RingWriter.Shape.smallest("checkout"));
    write(writer, 1, 1);
    long claim = writer.claim(8 + 21);
    writer.begin(claim, 8 + 21);
    writer.commit(claim, 77, new byte[21]);
    write(writer, 2, 2);

    await().until(() -> intake.ids().equals(ids(1, 2)));
  }

  @Test
  void aFullPipelineLeavesSpansInTheRing() throws Exception {
    intake.refuse(Admission.FULL);
    start();
    RingWriter writer = writer(1, RingWriter.Shape.smallest("checkout"));
    write(writer, 1, 10);
    await().until(() -> intake.offers() > 2);
    assertThat(intake.ids()).isEmpty();

    intake.refuse(null);

    await().until(() -> intake.ids().equals(ids(1, 10)));
  }

  @Test
  void aFullRingDropsAndTheDropsAreCounted() throws Exception {
    intake.refuse(Admission.FULL);
    start();
    RingWriter writer = writer(1, RingWriter.Shape.smallest("checkout"));
    int written = 0;
    while (writer.write(RingSpan.numbered(written + 1))) {
      written++;
    }
    writer.claim(1 << 20);
    intake.refuse(null);
    int all = written;

    await().until(() -> intake.ids().equals(ids(1, all)));
    await().until(() -> dropped("ring_full") == 1 && dropped("too_large") == 1);
  }

  @Test
  void whatTheSpoolCouldNotTakeIsReadAgain() throws Exception {
    intake.failNext();
    start();
    RingWriter writer = writer(1, RingWriter.Shape.smallest("checkout"));
    write(writer, 1, 10);

    await().until(() -> intake.ids().equals(ids(1, 10)));
  }

  @Test
  void anAgentThatDiedBeforeTheSpoolHadTheSpansReadsThemAgain() throws Exception {
    intake.hold();
    start();
    RingWriter writer = writer(1, RingWriter.Shape.smallest("checkout"));
    write(writer, 1, 10);
    await().until(() -> intake.heldPayloads() == 1);
    source.close();
    intake.forgetHeld();

    start();

    await().until(() -> intake.ids().equals(ids(1, 10)));
  }

  @Test
  void anAgentThatDiedBeforeTheRingWasClearedGoesOnBehindWhatTheSpoolHas() throws Exception {
    intake.hold();
    start();
    RingWriter writer = writer(1, RingWriter.Shape.smallest("checkout"));
    write(writer, 1, 10);
    await().until(() -> intake.heldPayloads() == 1);
    source.close();
    intake.keepHeld();
    write(writer, 11, 20);

    start();

    await().until(() -> intake.ids().equals(ids(1, 20)));
    // The writer gets the room back that the first run could not give.
    writeAsThereIsRoom(writer, 21, 5_000);
    await().until(() -> intake.ids().equals(ids(1, 5_000)));
  }

  @Test
  void aStoppingAgentLeavesTheRestForTheNextOne() throws Exception {
    start();
    RingWriter writer = writer(1, RingWriter.Shape.smallest("checkout"));
    write(writer, 1, 10);
    await().until(() -> intake.ids().equals(ids(1, 10)));
    source.stopAccepting();
    write(writer, 11, 20);
    source.close();
    assertThat(intake.ids()).isEqualTo(ids(1, 10));

    start();

    await().until(() -> intake.ids().equals(ids(1, 20)));
  }

  @Test
  void aDeadWritersRingIsReadToItsEndAndRemoved() throws Exception {
    start();
    RingWriter writer = writer(1, RingWriter.Shape.smallest("checkout"));
    write(writer, 1, 10);
    writer.close();

    await().until(() -> intake.ids().equals(ids(1, 10)));
    await().until(() -> !Files.exists(writer.path()) && intake.places().isEmpty());
    await().until(() -> rings("read") == 0);
  }

  @Test
  void claimsOfADeadWriterArePassedOverAndCounted() throws Exception {
    start();
    RingWriter writer = writer(1, RingWriter.Shape.smallest("checkout"));
    write(writer, 1, 1);
    long begun = writer.claim(100);
    writer.begin(begun, 100);
    write(writer, 2, 2);
    long claimed = writer.claim(5_000);
    assertThat(claimed).isPositive();
    write(writer, 3, 3);
    begun = writer.claim(100);
    writer.begin(begun, 100);
    writer.close();

    await().until(() -> intake.ids().equals(ids(1, 3)));
    await().until(() -> !Files.exists(writer.path()));
    assertThat(metric("ring_claims_abandoned_total")).isEqualTo(3);
  }

  @Test
  void placesOfRingsThatAreGoneAreForgotten() throws Exception {
    start();
    RingWriter writer = writer(1, RingWriter.Shape.smallest("checkout"));
    write(writer, 1, 1);
    await().until(() -> intake.places().size() == 1);
    source.close();
    Files.delete(writer.path());

    start();

    await().until(() -> intake.places().isEmpty());
  }

  @Test
  void moreRingsThanAllowedWaitForTheirTurn() throws Exception {
    config = config(1, 1 << 30);
    start();
    RingWriter first = writer(1, RingWriter.Shape.smallest("checkout"));
    write(first, 1, 1);
    await().until(() -> intake.ids().equals(ids(1, 1)));
    RingWriter second = writer(2, RingWriter.Shape.smallest("cart"));
    write(second, 2, 2);
    await().until(() -> rings("waiting") == 1);
    first.close();

    await().until(() -> intake.ids().equals(ids(1, 2)));
  }

  @Test
  void aSecondAgentLeavesTheDirectoryToTheFirst() throws Exception {
    start();
    RingWriter writer = writer(1, RingWriter.Shape.smallest("checkout"));
    write(writer, 1, 1);
    await().until(() -> intake.ids().equals(ids(1, 1)));
    MemoryIntake others = new MemoryIntake();
    try (RingSource second =
        new RingSource(config, others, List.of(), 1 << 25, new AgentMetrics(), System::nanoTime)) {
      second.start();
      write(writer, 2, 2);
      await().until(() -> intake.ids().equals(ids(1, 2)));
    }
    assertThat(others.offers()).isZero();
  }

  private RingConfig config(int maxRings, long maxBytes) {
    return new RingConfig(
        true, temporary.resolve("rings"), Optional.empty(), maxRings, maxBytes, 1 << 20);
  }

  private void start() throws IOException {
    if (config == null) {
      config = config(16, 1 << 30);
    }
    metrics = new AgentMetrics();
    source = new RingSource(config, intake, intake.places(), 1 << 25, metrics, System::nanoTime);
    source.start();
    await().until(() -> Files.exists(config.directory().resolve("wake")));
  }

  private RingWriter writer(int number, RingWriter.Shape shape) throws IOException {
    RingWriter writer =
        RingWriter.create(
            config.directory(), String.format("%d-%016x.ring", 4_000 + number, number), shape);
    writers.add(writer);
    return writer;
  }

  private static void write(RingWriter writer, long first, long last) {
    for (long number = first; number <= last; number++) {
      assertThat(writer.write(RingSpan.numbered(number))).isTrue();
    }
  }

  /** Several times what has room in the ring. */
  private static void writeAsThereIsRoom(RingWriter writer, long first, long last) {
    for (long number = first; number <= last; number++) {
      RingSpan span = RingSpan.numbered(number);
      while (!writer.write(span)) {
        LockSupport.parkNanos(100_000);
      }
    }
  }

  /** Until the agent has said that it sleeps. */
  private static void awaitSleep(RingWriter writer) {
    await().until(() -> writer.file().get(ValueLayout.JAVA_INT, RingLayout.ASLEEP_OFFSET) == 1);
  }

  private static List<Long> ids(long first, long last) {
    return LongStream.rangeClosed(first, last).boxed().toList();
  }

  private double metric(String name) {
    return metrics.registry.getSampleValue("trace_etl_agent_" + name);
  }

  private double dropped(String reason) {
    return metrics.registry.getSampleValue(
        "trace_etl_agent_ring_spans_dropped_total", new String[] {"reason"}, new String[] {reason});
  }

  private double rings(String state) {
    return metrics.registry.getSampleValue(
        "trace_etl_agent_rings", new String[] {"state"}, new String[] {state});
  }
}
