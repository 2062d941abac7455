package org.traceetl.agent.forward;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterTry;
import net.jqwik.api.lifecycle.BeforeTry;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.forward.ForwardMetrics.Drop;

/** Random requests, endpoints, restarts and damage. */
final class ForwardBufferProperties {
  private static final int HEAD_BYTES = StoredRequest.HEAD_BYTES;

  private Path directory;

  @BeforeTry
  void createDirectory() throws IOException {
    directory = Files.createTempDirectory("forward-buffer");
  }

  @AfterTry
  void deleteDirectory() throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /** Requests are numbered texts of random lengths. */
  private static String text(int number, SplittableRandom random) {
    return number + "-" + "x".repeat(random.nextInt(300));
  }

  private static int number(String text) {
    return Integer.parseInt(text.substring(0, text.indexOf('-')));
  }

  @Property(tries = 300)
  void whatIsNeitherReadNorLeftIsCountedAsDropped(@ForAll long seed) throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    List<String> endpoints = List.of("a", "b");
    TestBuffer test = open(4_000);
    List<Set<Integer>> read = List.of(new HashSet<>(), new HashSet<>());
    int[] last = {-1, -1};
    double[] dropped = new double[2];
    int appended = 0;
    boolean restarted = false;
    for (int step = 0; step < 120; step++) {
      int action = random.nextInt(12);
      if (action < 6) {
        test.append(text(appended++, random));
      } else if (action < 10) {
        int which = random.nextInt(2);
        String text = test.read(endpoints.get(which));
        if (text != null) {
          // In order; a repeat only after a restart.
          assertThat(number(text)).isGreaterThan(last[which]);
          last[which] = number(text);
          read.get(which).add(number(text));
        }
        if (random.nextInt(3) > 0) {
          test.buffer.cursor(endpoints.get(which)).allDone();
        }
      } else if (action == 10) {
        test.buffer.tidy();
      } else if (random.nextInt(4) == 0) {
        restarted = true;
        if (random.nextBoolean()) {
          test.buffer.close();
        }
        for (int which = 0; which < 2; which++) {
          dropped[which] += test.dropped(endpoints.get(which), Drop.BUFFER_FULL);
          last[which] = -1;
        }
        test = open(4_000);
      }
      assertThat(bytesOnDisk()).isLessThanOrEqualTo(4_000);
    }
    for (int which = 0; which < 2; which++) {
      String endpoint = endpoints.get(which);
      for (String text : test.drain(endpoint)) {
        read.get(which).add(number(text));
      }
      dropped[which] += test.dropped(endpoint, Drop.BUFFER_FULL);
      assertThat(test.dropped(endpoint, Drop.DAMAGED)).isZero();
      double missing = appended - read.get(which).size();
      if (restarted) {
        // What was read and not done before a restart may be dropped after it.
        assertThat(missing).isLessThanOrEqualTo(dropped[which]);
      } else {
        assertThat(missing).isEqualTo(dropped[which]);
      }
    }
  }

  @Property(tries = 300)
  void aKillAtAnyByteCostsAtMostTheLastRequest(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 12) int count) throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    TestBuffer test = open(1 << 20);
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      texts.add(text(i, random));
      test.append(texts.getLast());
    }
    Path segment = directory.resolve("0000000001.seg");
    long cut = random.nextLong(Files.size(segment) + 1);
    try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
      file.setLength(cut);
    }
    List<String> whole = new ArrayList<>();
    long end = 0;
    for (String text : texts) {
      if (end + HEAD_BYTES + text.length() > cut) {
        break;
      }
      end += HEAD_BYTES + text.length();
      whole.add(text);
    }

    TestBuffer next = open(1 << 20);
    next.append("99-next");
    whole.add("99-next");
    assertThat(next.drain("a")).isEqualTo(whole);
    assertThat(next.dropped("a", Drop.DAMAGED)).isEqualTo(end < cut ? 1 : 0);
    assertThat(Files.size(segment)).isEqualTo(end);
  }

  @Property(tries = 300)
  void aDamagedByteNeverReachesAnEndpoint(@ForAll long seed) throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    TestBuffer test = open(8_000);
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      texts.add(text(i, random));
      test.append(texts.getLast());
    }
    Path segment = directory.resolve("0000000001.seg");
    byte[] content = Files.readAllBytes(segment);
    int at = random.nextInt(content.length);
    content[at] ^= (byte) (1 << random.nextInt(8));
    Files.write(segment, content);

    // The running agent, and one that starts with the damage.
    for (TestBuffer reader : List.of(test, open(8_000))) {
      List<String> read = reader.drain("a");
      assertThat(texts).containsSubsequence(read);
      assertThat(read).doesNotHaveDuplicates().hasSizeLessThan(texts.size());
      assertThat(read.getLast()).isEqualTo(texts.getLast());
      assertThat(reader.dropped("a", Drop.DAMAGED)).isPositive();
    }
  }

  private TestBuffer open(long maxBytes) throws IOException {
    return new TestBuffer(directory, maxBytes, Disk.SYSTEM, "a", "b");
  }

  private long bytesOnDisk() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(path -> path.toString().endsWith(".seg"))
          .mapToLong(path -> path.toFile().length())
          .sum();
    }
  }
}
