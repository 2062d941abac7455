package org.traceetl.agent.source.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.agent.source.ring.RingAgent.await;
import static org.traceetl.agent.source.ring.RingAgent.awaitSleep;
import static org.traceetl.agent.source.ring.RingAgent.write;
import static org.traceetl.agent.source.ring.RingAgent.writeAsThereIsRoom;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.source.payload.MemoryIntake;
import org.traceetl.agent.source.payload.RecordingSink.Recorded;
import org.traceetl.agent.source.ring.RingMetrics.Drop;
import org.traceetl.proto.ring.RingLayout;
import org.traceetl.proto.ring.RingSpan;
import org.traceetl.proto.ring.RingWriter;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
final class RingSourceTest {
  @TempDir private Path temporary;

  private RingAgent agent;

  @BeforeEach
  void prepare() {
    agent = RingAgent.of(temporary.resolve("rings"), 16);
  }

  @AfterEach
  void close() throws IOException {
    agent.close();
  }

  @Test
  void spansOfARingArriveOnceWithTheirResource() throws Exception {
    RingWriter writer = startAndWrite(100);

    awaitSpans(100);
    assertThat(agent.intake.resources().getFirst()).isEqualTo(Map.of("service.name", "checkout"));
    assertThat(agent.intake.spans().getFirst())
        .extracting(Recorded::name, Recorded::attributes)
        .containsExactly("GET /1", Map.of("http.response.status_code", "200"));
  }

  @Test
  void aRingOlderThanTheAgentIsReadFromItsStart() throws Exception {
    agent.start();
    agent.stop();
    RingWriter writer = writer(1);
    write(writer, 1, 3);

    agent.start();

    awaitSpans(3);
  }

  @Test
  void aRingIsReadThroughManyRounds() throws Exception {
    agent.start();
    RingWriter writer = writer(1);
    writeAsThereIsRoom(writer, 1, 20_000);

    await().until(() -> agent.intake.size() == 20_000);
    assertThat(agent.intake.ids()).isEqualTo(ids(1, 20_000));
  }

  @Test
  void aSleepingAgentIsWokenBySpans() throws Exception {
    agent.start();
    RingWriter writer = writer(1);
    for (int number = 1; number <= 3; number++) {
      awaitSleep(writer);
      write(writer, number, number);
      awaitSpans(number);
    }
    assertThat(agent.metrics().wakes.sum()).isPositive();
  }

  @Test
  void aClaimHoldsBackLaterSpansUntilItIsCommitted() throws Exception {
    agent.start();
    RingWriter writer = writer(1);
    byte[] body = writer.body(RingSpan.numbered(1));
    long claim = writer.claim(8 + body.length);
    write(writer, 2, 3);
    awaitSleep(writer);
    assertThat(agent.intake.ids()).isEmpty();

    writer.begin(claim, 8 + body.length);
    writer.commit(claim, RingLayout.TYPE_SPAN, body);

    awaitSpans(3);
  }

  @Test
  void recordsOfUnknownTypesAreSkipped() throws Exception {
    RingWriter writer = startAndWrite(1);
    long claim = writer.claim(8 + 21);
    writer.begin(claim, 8 + 21);
    writer.commit(claim, 77, new byte[21]);
    write(writer, 2, 2);

    awaitSpans(2);
  }

  @Test
  void aFullPipelineLeavesSpansInTheRing() throws Exception {
    agent.intake.refuse(Admission.FULL);
    RingWriter writer = startAndWrite(10);
    await().until(() -> agent.intake.offers() > 2);
    assertThat(agent.intake.ids()).isEmpty();

    agent.intake.refuse(null);

    awaitSpans(10);
  }

  @Test
  void spansDroppedByAFullRingAreCounted() throws Exception {
    agent.intake.refuse(Admission.FULL);
    agent.start();
    RingWriter writer = writer(1);
    int written = 0;
    while (writer.write(RingSpan.numbered(written + 1))) {
      written++;
    }
    writer.claim(1 << 20);
    agent.intake.refuse(null);

    awaitSpans(written);
    await()
        .until(() ->
            agent.metrics().dropped(Drop.RING_FULL) == 1
                && agent.metrics().dropped(Drop.TOO_LARGE) == 1);
  }

  @Test
  void spansThatTheSpoolRefusedAreReadAgain() throws Exception {
    agent.intake.failNext();
    RingWriter writer = startAndWrite(10);

    awaitSpans(10);
  }

  @Test
  void spansThatWereNotStoredAreReadAgainAfterADeath() throws Exception {
    agent.intake.hold();
    RingWriter writer = startAndWrite(10);
    await().until(() -> agent.intake.heldPayloads() == 1);
    agent.stop();
    agent.intake.forgetHeld();

    agent.start();

    awaitSpans(10);
  }

  @Test
  void storedSpansAreNotReadAgainAfterADeath() throws Exception {
    agent.intake.hold();
    RingWriter writer = startAndWrite(10);
    await().until(() -> agent.intake.heldPayloads() == 1);
    agent.stop();
    agent.intake.keepHeld();
    write(writer, 11, 20);

    agent.start();

    awaitSpans(20);
    // The writer gets back the room that the first run did not release.
    writeAsThereIsRoom(writer, 21, 5_000);
    awaitSpans(5_000);
  }

  @Test
  void aStoppingAgentLeavesLaterSpansForTheNextOne() throws Exception {
    RingWriter writer = startAndWrite(10);
    awaitSpans(10);
    agent.stopAccepting();
    write(writer, 11, 20);
    agent.stop();
    assertThat(agent.intake.ids()).isEqualTo(ids(1, 10));

    agent.start();

    awaitSpans(20);
  }

  @Test
  void theRingOfADeadWriterIsReadAndRemoved() throws Exception {
    RingWriter writer = startAndWrite(10);
    writer.close();

    awaitSpans(10);
    await().until(() -> !Files.exists(writer.path()) && agent.intake.positions().isEmpty());
    await().until(() -> agent.metrics().reading == 0);
  }

  @Test
  void claimsOfADeadWriterAreSkippedAndCounted() throws Exception {
    RingWriter writer = startAndWrite(1);
    long begun = writer.claim(100);
    writer.begin(begun, 100);
    write(writer, 2, 2);
    long claimed = writer.claim(5_000);
    assertThat(claimed).isPositive();
    write(writer, 3, 3);
    begun = writer.claim(100);
    writer.begin(begun, 100);
    writer.close();

    awaitSpans(3);
    await().until(() -> !Files.exists(writer.path()));
    assertThat(agent.metrics().claimsAbandoned.sum()).isEqualTo(3);
  }

  @Test
  void positionsOfDeletedRingsAreForgotten() throws Exception {
    RingWriter writer = startAndWrite(1);
    await().until(() -> agent.intake.positions().size() == 1);
    agent.stop();
    Files.delete(writer.path());

    agent.start();

    await().until(() -> agent.intake.positions().isEmpty());
  }

  @Test
  void ringsAboveTheLimitWait() throws Exception {
    agent = RingAgent.of(temporary.resolve("rings"), 1);
    agent.start();
    RingWriter first = writer(1);
    write(first, 1, 1);
    awaitSpans(1);
    RingWriter second = writer(2);
    write(second, 2, 2);
    await().until(() -> agent.metrics().waiting == 1);
    first.close();

    awaitSpans(2);
  }

  @Test
  void aSecondAgentLeavesTheDirectoryToTheFirst() throws Exception {
    RingWriter writer = startAndWrite(1);
    awaitSpans(1);
    MemoryIntake others = new MemoryIntake("ring");
    try (RingSource second = agent.source(others)) {
      second.start();
      write(writer, 2, 2);
      awaitSpans(2);
    }
    assertThat(others.offers()).isZero();
  }

  /** Starts the agent and a writer, which writes spans from 1 to the number. */
  private RingWriter startAndWrite(int last) throws IOException {
    agent.start();
    RingWriter writer = writer(1);
    write(writer, 1, last);
    return writer;
  }

  /** Waits until the spans from 1 to the number have arrived, each once. */
  private void awaitSpans(int last) {
    await().until(() -> agent.intake.ids().equals(ids(1, last)));
  }

  private RingWriter writer(int number) throws IOException {
    return agent.writer(
        String.format("%d-%016x.ring", 4_000 + number, number),
        RingWriter.Shape.smallest("checkout"));
  }

  private static List<Long> ids(long first, long last) {
    return LongStream.rangeClosed(first, last).boxed().toList();
  }
}
