package org.traceetl.perf.simulate.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.disk.Disk;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.perf.simulate.world.Timeline;
import org.traceetl.perf.simulate.world.World;

final class SimulatedDiskTest {
  private static final Path FILE = Path.of("/d/file");
  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

  /** Work of a process on its disk. */
  @FunctionalInterface
  private interface Work {
    void on(Disk disk) throws IOException;
  }

  private final World world = new World(1, new Timeline(100));
  private final SimulatedDisk disk = new SimulatedDisk(world);
  private final List<Object> seen = new ArrayList<>();

  private Process run(Work work) {
    Process process = world.process("program");
    process.start(
        "main",
        () -> {
          try {
            work.on(disk.of(process));
            seen.add("done");
          } catch (IOException e) {
            seen.add(e.getMessage());
          }
        });
    return process;
  }

  private static void write(Disk on, int bytes) throws IOException {
    Disk.OpenFile file = on.create(FILE);
    ByteBuffer content = ByteBuffer.allocate(bytes);
    while (content.hasRemaining()) {
      file.write(content, content.position());
    }
  }

  @Test
  void fullDiskTakesAPartAndThenRefuses() {
    disk.fill(true);
    run(on -> write(on, 1 << 20));
    world.run(MINUTE);

    assertThat(seen).containsExactly("No space left on device");
    assertThat(disk.usableBytes()).isZero();
    disk.fill(false);
    run(on -> write(on, 1 << 20));
    world.run(2 * MINUTE);
    assertThat(seen).endsWith("done");
  }

  @Test
  void killedProcessLosesItsLockAndNotItsWrites() {
    Path lock = FILE.resolveSibling("lock");
    Process first =
        run(on -> {
          seen.add(on.lock(lock).isPresent());
          write(on, 5_000);
        });
    world.run(MINUTE);
    run(on -> seen.add(on.lock(lock).isPresent()));
    world.run(2 * MINUTE);
    first.kill();
    run(on -> {
      seen.add(on.lock(lock).isPresent());
      seen.add(on.read(FILE, 10_000).length);
    });
    world.run(3 * MINUTE);

    assertThat(seen).containsExactly(true, "done", false, "done", true, 5_000, "done");
  }

  @Test
  void failedForceIsReportedAndClosedFilesRefuse() {
    disk.failForces(true);
    run(on -> {
      Disk.OpenFile file = on.create(FILE);
      assertThatThrownBy(file::force).hasMessage("Input/output error");
      disk.failForces(false);
      file.force();
      file.close();
      assertThatThrownBy(file::force).isInstanceOf(ClosedChannelException.class);
    });
    world.run(MINUTE);

    assertThat(seen).containsExactly("done");
  }

  @Test
  void slowDiskDelaysEachOperation() {
    disk.slow(TimeUnit.SECONDS.toNanos(3));
    run(on -> {
      on.list(FILE.getParent(), "");
      on.list(FILE.getParent(), "");
      seen.add(TimeUnit.NANOSECONDS.toSeconds(world.nanos()));
    });
    world.run(MINUTE);

    assertThat(seen).containsExactly(6L, "done");
  }
}
