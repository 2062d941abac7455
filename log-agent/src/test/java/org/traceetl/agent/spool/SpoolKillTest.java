package org.traceetl.agent.spool;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.SpoolConfig;
import org.traceetl.agent.config.SpoolConfig.Flush;
import org.traceetl.agent.config.SpoolConfig.WhenFull;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.common.Clocks;

/** Kills a process that writes frames, repeatedly and at random times. */
final class SpoolKillTest {
  private static final BrokerQueue QUEUE = new BrokerQueue("broker-a", 0);
  private static final BrokerQueue AWAY = new BrokerQueue("broker-b", 0);

  /** Small, so that segments are merged around batches for the unreachable broker. */
  private static final long MAX_BYTES = 32 << 20;

  @TempDir private Path directory;

  private final Set<Integer> answered = new HashSet<>();
  private final Set<String> published = new HashSet<>();
  private int merged;

  @Test
  void answeredFramesSurviveKillsWhole() throws Exception {
    writeAndKillOften(Flush.OS, 8);
    assertThat(merged).isPositive();
  }

  @Test
  void answeredFramesSurviveKillsWhileForcesFail() throws Exception {
    writeAndKillOften(Flush.COMMIT, 4);
  }

  private void writeAndKillOften(Flush flush, int rounds) throws Exception {
    Random random = new Random();
    int first = 0;
    for (int round = 0; round < rounds; round++) {
      writeAndKill(first, 2 * round + 1, flush, 500 + random.nextInt(20_000));
      first = check(first, 2 * round + 2);
    }
    assertThat(answered).hasSizeGreaterThan(1_000);
  }

  /** Kills the writer after a number of its lines. */
  private void writeAndKill(int first, int epoch, Flush flush, int lines) throws Exception {
    Process writer =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-cp",
                System.getProperty("java.class.path"),
                Writer.class.getName(),
                directory.toString(),
                Integer.toString(epoch),
                Integer.toString(first),
                flush.name())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    int left = lines;
    try (BufferedReader output = writer.inputReader()) {
      String line = output.readLine();
      while (line != null) {
        String[] words = line.split(" ");
        // The last line may be torn.
        if (words.length == 3 && words[2].equals(".")) {
          if (words[0].equals("answered")) {
            answered.add(Integer.valueOf(words[1]));
          } else {
            published.add(words[1]);
          }
        }
        if (--left == 0) {
          // Killed by its handle, which keeps its output readable.
          writer.toHandle().destroyForcibly();
        }
        line = output.readLine();
      }
    }
    assertThat(writer.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(left).as("lines before the writer ended by itself").isNotPositive();
  }

  /** Checks what the writer left, and publishes some of it. */
  private int check(int first, int epoch) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      // Complete or not, merged segments have numbers between those of other segments.
      merged +=
          (int)
              files
                  .map(file -> file.getFileName().toString())
                  .filter(name -> name.contains(".seg"))
                  .filter(name -> Integer.parseInt(name.substring(0, 10)) % 16 != 1)
                  .count();
    }
    try (Spool spool =
        TestSpool.open(
            TestSpool.config(directory, MAX_BYTES, WhenFull.REFUSE),
            new AgentIdentity(7, 8, epoch),
            new SpoolMetrics())) {
      Set<String> recovered = new HashSet<>();
      List<SpooledBatch> batches = spool.takeRecovered();
      for (SpooledBatch batch : batches) {
        byte[] body = spool.read(batch);
        String name = new String(body, UTF_8).strip();
        assertThat(recovered.add(name)).as(name).isTrue();
      }
      int number = first;
      while (spool.answered().answerAgain(Writer.request(number)) != null) {
        for (int i = 0; i < Writer.batches(number); i++) {
          String name = number + "/" + i;
          assertThat(recovered.contains(name) || published.contains(name)).as(name).isTrue();
        }
        number++;
      }
      int end = number;
      assertThat(answered).allMatch(request -> request < end);
      assertThat(recovered).allMatch(name -> Integer.parseInt(name.split("/")[0]) < end);
      assertThat(spool.places())
          .containsExactly(new Checkpoint.Position("file", Integer.toString(end - 1)));
      for (SpooledBatch batch : batches.subList(0, batches.size() / 2)) {
        published.add(new String(spool.read(batch), UTF_8).strip());
        spool.settle(batch, Settlement.PUBLISHED);
      }
      return end;
    }
  }

  /** The process that is killed. */
  static final class Writer {
    private Writer() {}

    public static void main(String[] arguments) throws Exception {
      ProcessHandle test = ProcessHandle.current().parent().orElseThrow();
      AgentIdentity agent = new AgentIdentity(7, 8, Long.parseLong(arguments[1]));
      int number = Integer.parseInt(arguments[2]);
      Random random = new Random();
      ArrayBlockingQueue<SpooledBatch> unpublished = new ArrayBlockingQueue<>(200);
      try (Spool spool = open(Path.of(arguments[0]), agent, Flush.valueOf(arguments[3]))) {
        spool.outlet(
            new Outlet() {
              @Override
              public void append(List<SpooledBatch> batches) {}

              @Override
              public void forget(List<SpooledBatch> batches) {}
            });
        Frame frame = new Frame(agent, System::currentTimeMillis);
        long sequence = 0;
        // Bounded in case the test does not kill it. Refused commits do not count: a full spool
        // refuses some 50,000 in the second until it tries to merge again.
        for (int commits = 0; commits < 100_000 && test.isAlive(); commits++) {
          frame.clear();
          int start = number;
          for (int requests = 1 + random.nextInt(4); requests > 0; requests--) {
            for (int i = 0; i < batches(number); i++) {
              byte[] body = new byte[20 + random.nextInt(20_000)];
              Arrays.fill(body, (byte) ' ');
              byte[] name = (number + "/" + i).getBytes(UTF_8);
              System.arraycopy(name, 0, body, 0, name.length);
              frame.add(isAway(number, i) ? AWAY : QUEUE, sequence++, body, 1);
            }
            frame.add(request(number), 1, 0, "");
            frame.add(new Checkpoint.Position("file", Integer.toString(number)), 0, 0, "");
            number++;
          }
          try {
            spool.commit(frame);
          } catch (IOException e) {
            // Refused: senders repeat later.
            number = start;
            commits--;
            Thread.onSpinWait();
            continue;
          }
          for (int request = start; request < number; request++) {
            System.out.println("answered " + request + " .");
          }
          for (SpooledBatch batch : frame.batches()) {
            if (!batch.queue().equals(AWAY) && !unpublished.offer(batch)) {
              publish(spool, unpublished.remove());
              unpublished.add(batch);
            }
          }
          spool.tend();
        }
      }
    }

    private static Spool open(Path directory, AgentIdentity agent, Flush flush) throws IOException {
      while (true) {
        try {
          return Spool.open(
              new SpoolConfig(directory, MAX_BYTES, 1 << 18, 24, WhenFull.REFUSE, flush),
              agent,
              new SpoolMetrics(),
              Clocks.SYSTEM,
              flush == Flush.COMMIT ? new ForcedDisk(Writer::force) : Disk.SYSTEM);
        } catch (IOException e) {
          // Start again: the force of the first segment may have failed.
        }
      }
    }

    /** Fails at random. Unforced data survives the end of the process. */
    private static void force(Disk.OpenFile file) throws IOException {
      if (ThreadLocalRandom.current().nextInt(20) == 0) {
        throw new IOException("Input/output error");
      }
    }

    private static void publish(Spool spool, SpooledBatch batch) throws IOException {
      System.out.println("published " + new String(spool.read(batch), UTF_8).strip() + " .");
      spool.settle(batch, Settlement.PUBLISHED);
    }

    static boolean isAway(int number, int batch) {
      return batch == 0 && number % 20 == 0;
    }

    static int batches(int number) {
      return 1 + number % 3;
    }

    static Checkpoint.Request request(int number) {
      return new Checkpoint.Request(number, -number, number);
    }
  }
}
