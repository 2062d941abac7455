package org.traceetl.perf.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.disk.Disk;

final class MemoryDiskTest {
  private final Disk disk = new MemoryDisk();
  private final Path path = Path.of("spool", "1.seg");

  @Test
  void bytesAreReadAsTheyWereWritten() throws IOException {
    byte[] written = new byte[3_000_000];
    new Random(1).nextBytes(written);
    Disk.OpenFile file = disk.create(path);
    ByteBuffer all = ByteBuffer.wrap(written);
    file.write(all.slice(0, 1_500_000), 0);
    file.write(all.slice(1_500_000, 1_500_000), 1_500_000);

    assertThat(disk.read(path, Integer.MAX_VALUE)).isEqualTo(written);
    assertThat(file.read(ByteBuffer.allocate(1), file.size())).isEqualTo(-1);
  }

  @Test
  void memoryOfDeletedFilesIsNotReadAgain() throws IOException {
    disk.create(path).write(ByteBuffer.wrap(new byte[] {1, 2, 3}), 0);
    disk.delete(path);

    assertThatThrownBy(() -> disk.open(path)).isInstanceOf(NoSuchFileException.class);
    assertThat(disk.create(path).size()).isZero();
  }

  @Test
  void movedFilesReplaceOthers() throws IOException {
    Path unfinished = Path.of("spool", "2.seg.tmp");
    disk.create(path);
    disk.create(unfinished).write(ByteBuffer.wrap(new byte[] {7}), 0);
    disk.move(unfinished, path);

    assertThat(disk.list(Path.of("spool"), ".seg")).containsExactly(path);
    assertThat(disk.read(path, 10)).containsExactly(7);
    assertThat(disk.exists(unfinished)).isFalse();
  }
}
