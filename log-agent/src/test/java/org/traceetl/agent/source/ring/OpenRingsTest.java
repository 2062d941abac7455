package org.traceetl.agent.source.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.source.payload.MemoryIntake;
import org.traceetl.proto.ring.RingWriter;

/** The JVM reports memory faults late, possibly while it reads an unrelated ring. */
final class OpenRingsTest {
  private static final String INNOCENT = "1-0000000000000001.ring";
  private static final String OTHER = "1-0000000000000002.ring";

  @TempDir private Path temporary;

  private final RingMetrics metrics = new RingMetrics();
  private RingFiles files;
  private OpenRings rings;
  private RingWriter innocent;
  private RingWriter other;

  @BeforeEach
  void openBoth() throws IOException {
    Path directory = temporary.resolve("rings");
    files = RingFiles.open(directory, Optional.empty());
    Shares shares = new Shares(RingAgent.config(directory, Optional.empty(), 64));
    rings =
        new OpenRings(
            shares,
            new RingPositions(List.of()),
            new GivenUpRings(metrics, System::nanoTime),
            new RingReader(new MemoryIntake("ring"), 0, shares, metrics, PollIntervals.USUAL, 0),
            resource -> null);
    innocent = RingWriter.create(directory, INNOCENT, RingWriter.Shape.smallest("innocent"));
    other = RingWriter.create(directory, OTHER, RingWriter.Shape.smallest("other"));
    assertThat(rings.open(files, INNOCENT, 0)).isTrue();
    assertThat(rings.open(files, OTHER, 0)).isTrue();
    assertThat(rings.size()).isEqualTo(2);
  }

  @AfterEach
  void close() throws IOException {
    rings.copy().forEach(rings::drop);
    innocent.close();
    other.close();
    files.close();
  }

  @Test
  void aRingThatWasCutAndExtendedAgainIsGivenUp() throws Exception {
    long length = Files.size(other.path());
    try (FileChannel file = FileChannel.open(other.path(), StandardOpenOption.WRITE)) {
      file.truncate(4_096);
      file.write(ByteBuffer.allocate(1), length - 1);
    }

    rings.giveUpGuilty(files, ring(INNOCENT), new InternalError());

    assertThat(rings.all()).extracting(ring -> ring.name).containsExactly(INNOCENT);
  }

  @Test
  void repeatedFaultsOfUnknownCauseGiveUpTheCurrentRing() {
    for (int fault = 1; fault < 3; fault++) {
      rings.giveUpGuilty(files, ring(OTHER), new InternalError());
      assertThat(rings.size()).isEqualTo(2);
    }
    rings.giveUpGuilty(files, ring(OTHER), new InternalError());

    assertThat(rings.all()).extracting(ring -> ring.name).containsExactly(INNOCENT);
  }

  private Ring ring(String name) {
    return rings.all().stream().filter(ring -> ring.name.equals(name)).findFirst().orElseThrow();
  }
}
