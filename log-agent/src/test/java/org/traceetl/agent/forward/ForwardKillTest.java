package org.traceetl.agent.forward;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.forward.ForwardMetrics.Drop;

/** Kills a process that fills and reads a buffer, repeatedly and at random times. */
final class ForwardKillTest {
  private static final long MAX_BYTES = 1 << 30;
  private static final int KILLS = 5;

  @TempDir private Path directory;

  private final Set<Integer> appended = new HashSet<>();
  private final Set<Integer> forwarded = new HashSet<>();

  @Test
  void requestsInTheBufferSurviveKills() throws Exception {
    Random random = new Random();
    for (int kill = 0; kill < KILLS; kill++) {
      writeAndKill(kill * 1_000_000, 200 + random.nextInt(5_000));
    }
    TestBuffer left = new TestBuffer(directory, MAX_BYTES, Disk.SYSTEM, "a");
    left.drain("a").forEach(text -> forwarded.add(number(text)));

    assertThat(forwarded).containsAll(appended);
    assertThat(appended).hasSizeGreaterThan(100);
    // Only the last run can have left a request in the middle.
    assertThat(left.dropped("a", Drop.DAMAGED)).isLessThanOrEqualTo(1);
    assertThat(left.dropped("a", Drop.BUFFER_FULL)).isZero();
  }

  private void writeAndKill(int first, int lines) throws Exception {
    Process writer =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-cp",
                System.getProperty("java.class.path"),
                Writer.class.getName(),
                directory.toString(),
                Integer.toString(first))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    int left = lines;
    try (BufferedReader output = writer.inputReader()) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        String[] words = line.split(" ", -1);
        // The last line may be torn.
        if (words.length == 3 && words[2].equals(".")) {
          (words[0].equals("appended") ? appended : forwarded).add(Integer.valueOf(words[1]));
        }
        if (--left == 0) {
          // Killed by its handle, which keeps its output readable.
          writer.toHandle().destroyForcibly();
        }
      }
    }
    assertThat(writer.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(left).as("lines before the writer ended by itself").isNotPositive();
  }

  private static int number(String text) {
    return Integer.parseInt(text.substring(0, text.indexOf('-')));
  }

  /** Appends requests, forwards some of them and stores the positions, until it is killed. */
  static final class Writer {
    private Writer() {}

    public static void main(String[] args) throws IOException {
      TestBuffer test = new TestBuffer(Path.of(args[0]), MAX_BYTES, Disk.SYSTEM, "a");
      Random random = new Random();
      for (int i = Integer.parseInt(args[1]); ; i++) {
        test.append(i + "-" + "x".repeat(random.nextInt(20_000)));
        System.out.println("appended " + i + " .");
        if (random.nextInt(3) == 0) {
          String text = test.read("a");
          if (text != null) {
            // As a sender does: first the answer, then the position.
            System.out.println("forwarded " + number(text) + " .");
            test.buffer.cursor("a").allDone();
          }
        }
        if (random.nextInt(50) == 0) {
          test.buffer.tidy();
        }
      }
    }
  }
}
