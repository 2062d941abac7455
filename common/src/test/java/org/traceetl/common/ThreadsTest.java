package org.traceetl.common;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
final class ThreadsTest {
  private static final int GREATEST = 19;

  /** Returns the niceness of the current thread as proc_pid_stat(5) says. */
  private static int niceness() throws Exception {
    String stat = Files.readString(Path.of("/proc/thread-self/stat"));
    // Fields from the third on follow the name, which may contain spaces.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return Integer.parseInt(fields[19 - 3]);
  }

  private static int nicenessOf(Threads.Kind kind) throws Exception {
    FutureTask<Integer> niceness = new FutureTask<>(ThreadsTest::niceness);
    Threads.SYSTEM.create(kind, "test", niceness).start();
    return niceness.get();
  }

  @Test
  void threadsInTheBackgroundAndThoseThatTheyStartLeaveTheCoresToOthers() throws Exception {
    int own = niceness();

    FutureTask<Integer> started = new FutureTask<>(() -> nicenessOf(Threads.Kind.DAEMON));
    Threads.SYSTEM.create(Threads.Kind.BACKGROUND, "test", started).start();

    assertThat(nicenessOf(Threads.Kind.BACKGROUND)).isEqualTo(GREATEST);
    assertThat(started.get()).isEqualTo(GREATEST);
    assertThat(nicenessOf(Threads.Kind.DAEMON)).isEqualTo(own);
    assertThat(niceness()).isEqualTo(own);
  }
}
