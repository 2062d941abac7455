package org.traceetl.server.canary;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.Clocks;
import org.traceetl.server.canary.SpanSender.Answer;
import org.traceetl.server.canary.SpanSender.Outcome;

/** Answers for spans in a ring. The test moves the ring's head in place of the agent. */
final class RingSenderTest {
  /** Places in the header; see docs/ring.md. */
  private static final int TAIL = 128;

  private static final int HEAD = 384;

  @TempDir private Path directory;
  private final AtomicLong nowNanos = new AtomicLong();
  private RingSender sender;

  @AfterEach
  void close() {
    sender.close();
  }

  private void create(Path rings) {
    Clocks clocks =
        new Clocks(nowNanos::get, InstantSource.system(), nanos -> nowNanos.addAndGet(nanos));
    sender = new RingSender(rings, "canary", Duration.ofSeconds(5), clocks);
  }

  private static Probe probe(long seed) {
    Random random = new Random(seed);
    return Probe.of("canary", new SpanNames(random), "ring", 1_700_000_000_000L, random);
  }

  private Path ring() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(".ring")).findFirst().orElseThrow();
    }
  }

  private long tail() throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(ring())).order(ByteOrder.LITTLE_ENDIAN).getLong(TAIL);
  }

  private void read() throws IOException {
    ByteBuffer head = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    head.putLong(0, tail());
    try (FileChannel file = FileChannel.open(ring(), StandardOpenOption.WRITE)) {
      file.write(head, HEAD);
    }
  }

  @Test
  void probeIsAcceptedWhenItIsReadAndWrittenOnce() throws Exception {
    create(directory);
    Probe probe = probe(1);
    Answer unread = sender.send(probe);
    long tail = tail();
    assertThat(unread.outcome()).isEqualTo(Outcome.UNKNOWN);
    assertThat(unread.reason()).contains("does not read").contains(ring().toString());
    assertThat(tail).isPositive();
    assertThat(sender.send(probe).outcome()).isEqualTo(Outcome.UNKNOWN);
    assertThat(tail()).isEqualTo(tail);

    read();

    assertThat(sender.send(probe)).isEqualTo(new Answer(Outcome.ACCEPTED, 0, ""));
    assertThat(sender.send(probe(2)).outcome()).isEqualTo(Outcome.UNKNOWN);
    assertThat(tail()).isGreaterThan(tail);
  }

  @Test
  void withoutTheAgentsDirectoryNothingIsSent() throws Exception {
    create(directory.resolve("absent"));
    Answer answer = sender.send(probe(1));
    assertThat(answer.outcome()).isEqualTo(Outcome.REFUSED);
    assertThat(answer.reason()).contains("cannot create a ring").contains("absent");
  }

  @Test
  void aFullRingRefuses() throws Exception {
    create(directory);
    Answer answer;
    long probes = 0;
    do {
      answer = sender.send(probe(probes));
      probes++;
    } while (answer.outcome() == Outcome.UNKNOWN && probes < 10_000);
    assertThat(answer.outcome()).isEqualTo(Outcome.REFUSED);
  }

  @Test
  void theNextProbeGoesToANewRingIfTheAgentHasRemovedTheRing() throws Exception {
    create(directory);
    Probe lost = probe(1);
    sender.send(lost);
    Path removed = ring();
    Files.delete(removed);
    Answer answer = sender.send(lost);
    assertThat(answer.outcome()).isEqualTo(Outcome.UNKNOWN);
    assertThat(answer.reason()).contains("was removed");

    assertThat(sender.send(probe(2)).outcome()).isEqualTo(Outcome.UNKNOWN);

    assertThat(ring()).isNotEqualTo(removed);
  }
}
