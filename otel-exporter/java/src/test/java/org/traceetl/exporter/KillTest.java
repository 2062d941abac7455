package org.traceetl.exporter;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.exporter.ring.RingReader;
import org.traceetl.exporter.ring.RingSpan;

class KillTest {
  @TempDir Path directory;

  @Test
  @Timeout(120)
  void everySpanOfTheSdkThatHadEndedOutlivesAKill() throws Exception {
    everySpanThatHadEndedOutlivesAKill(List.of());
  }

  @Test
  @Timeout(120)
  void everySpanOfTheProviderThatHadEndedOutlivesAKill() throws Exception {
    everySpanThatHadEndedOutlivesAKill(List.of("own"));
  }

  private void everySpanThatHadEndedOutlivesAKill(List<String> provider) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-Xmx128m",
            "-cp",
            System.getProperty("java.class.path"),
            KilledApplication.class.getName(),
            directory.toString()));
    command.addAll(provider);
    Process application =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    long[] ended = new long[KilledApplication.THREADS];
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(application.getInputStream(), StandardCharsets.US_ASCII))) {
      for (int i = 0; i < 5000; i++) {
        count(lines.readLine(), ended);
      }
      Path ring = ring();
      assertThat(isLocked(ring)).isTrue();

      // SIGKILL. By its handle, which leaves what it had said to be read.
      application.toHandle().destroyForcibly();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        count(line, ended);
      }
      assertThat(isLocked(ring)).isFalse();
      try (RingReader reader = new RingReader(ring)) {
        List<RingSpan> spans = reader.drain();
        for (int t = 0; t < ended.length; t++) {
          Object thread = (long) t;
          List<Object> numbers =
              spans.stream()
                  .filter(span -> thread.equals(span.attribute("thread")))
                  .map(span -> span.attribute("number"))
                  .toList();
          // One more may have ended of which the application could not say so any more.
          assertThat((long) numbers.size()).isBetween(ended[t], ended[t] + 1);
          assertThat(numbers)
              .isEqualTo(LongStream.range(0, numbers.size()).boxed().map(n -> (Object) n).toList());
        }
        assertThat(reader.uncommitted()).isLessThanOrEqualTo(KilledApplication.THREADS);
        assertThat(reader.file().getLong(264)).isZero();
      }
    } finally {
      application.destroyForcibly();
    }
  }

  /** The last line may have been cut. */
  private static void count(String line, long[] ended) {
    String[] parts = line.split(" ");
    if (parts.length == 2 && parts[1].equals(Long.toString(ended[Integer.parseInt(parts[0])]))) {
      ended[Integer.parseInt(parts[0])]++;
    }
  }

  private Path ring() throws IOException {
    try (var files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(".ring")).findFirst().orElseThrow();
    }
  }

  private static boolean isLocked(Path ring) {
    try (FileChannel channel =
        FileChannel.open(ring, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return channel.tryLock(0, 1, false) == null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
