package org.traceetl.perf.simulate.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

final class SimulatedFileTest {
  private static final int PAGE = SimulatedFile.PAGE_BYTES;
  private static final Path DIRECTORY = Path.of("/d");
  private static final Path A = DIRECTORY.resolve("a");
  private static final Path B = DIRECTORY.resolve("b");

  @Test
  void forcedContentSurvivesEachPowerLoss() {
    for (int seed = 0; seed < 200; seed++) {
      SimulatedFile file = new SimulatedFile();
      append(file, 3 * PAGE + 5, 1);
      file.endForce(file.beginForce());
      append(file, 2 * PAGE, 2);
      file.losePower(new SplittableRandom(seed));

      assertThat(content(file)).startsWith(filled(3 * PAGE + 5, 1));
      assertThat(file.size()).isBetween(3 * PAGE + 5, 5 * PAGE + 5);
    }
  }

  @Test
  void unforcedTailIsLostTornOrHasZeroPages() {
    List<byte[]> left = new ArrayList<>();
    for (int seed = 0; seed < 200; seed++) {
      SimulatedFile file = new SimulatedFile();
      append(file, 3 * PAGE, 1);
      file.losePower(new SplittableRandom(seed));
      left.add(content(file));
    }

    assertThat(left).anyMatch(bytes -> bytes.length == 0);
    assertThat(left)
        .anyMatch(
            bytes -> bytes.length % PAGE > 0 && Arrays.equals(bytes, filled(bytes.length, 1)));
    assertThat(left)
        .anyMatch(bytes -> bytes.length == 3 * PAGE && bytes[0] == 0 && bytes[PAGE] == 1);
  }

  @Test
  void pagesOfAFailedForceAreReadAndNeverForced() {
    SimulatedFile file = new SimulatedFile();
    append(file, PAGE, 1);
    // The force fails after its begin.
    file.beginForce();
    append(file, PAGE, 2);
    file.endForce(file.beginForce());

    assertThat(content(file)).startsWith(filled(PAGE, 1));
    boolean zeros = false;
    for (int seed = 0; seed < 50; seed++) {
      SimulatedFile copy = new SimulatedFile();
      append(copy, PAGE, 1);
      copy.beginForce();
      append(copy, PAGE, 2);
      copy.endForce(copy.beginForce());
      copy.losePower(new SplittableRandom(seed));
      assertThat(Arrays.copyOfRange(content(copy), PAGE, 2 * PAGE)).isEqualTo(filled(PAGE, 2));
      zeros |= content(copy)[0] == 0;
    }
    assertThat(zeros).isTrue();
  }

  @Test
  void writesDuringAForceWaitForTheNextOne() {
    SimulatedFile file = new SimulatedFile();
    append(file, 10, 1);
    SimulatedFile.Force force = file.beginForce();
    append(file, 10, 2);
    file.endForce(force);
    TreeSet<Integer> sizes = new TreeSet<>();
    for (int seed = 0; seed < 100; seed++) {
      SimulatedFile copy = new SimulatedFile();
      append(copy, 10, 1);
      SimulatedFile.Force forced = copy.beginForce();
      append(copy, 10, 2);
      copy.endForce(forced);
      copy.losePower(new SplittableRandom(seed));
      sizes.add(copy.size());
    }
    assertThat(sizes.first()).isEqualTo(10);
    assertThat(sizes.last()).isEqualTo(20);
  }

  @Test
  void truncatedFileHasItsOldOrItsNewSizeAfterAPowerLoss() {
    TreeSet<Integer> sizes = new TreeSet<>();
    for (int seed = 0; seed < 100; seed++) {
      SimulatedFile file = new SimulatedFile();
      append(file, 2 * PAGE, 1);
      file.endForce(file.beginForce());
      file.truncate(100);
      file.losePower(new SplittableRandom(seed));
      sizes.add(file.size());
      assertThat(content(file)).isEqualTo(filled(file.size(), 1));
    }
    assertThat(sizes).containsExactly(100, 2 * PAGE);
  }

  @Test
  void unforcedNamesSurviveInEachCombination() throws Exception {
    TreeSet<String> found = new TreeSet<>();
    for (int seed = 0; seed < 300; seed++) {
      SimulatedNames names = new SimulatedNames();
      SimulatedFile old = new SimulatedFile();
      names.add(B, old);
      names.endForce(names.beginForce(DIRECTORY));
      SimulatedFile file = new SimulatedFile();
      names.add(A, file);
      names.move(A, B);
      names.losePower(new SplittableRandom(seed));
      found.add((names.find(A) == file) + " " + (names.find(B) == file ? "new" : "old"));
      assertThat(names.find(B)).isNotNull();
    }
    assertThat(found).containsExactly("false new", "false old", "true old");
  }

  @Test
  void forcedNamesSurviveEachPowerLoss() throws Exception {
    for (int seed = 0; seed < 50; seed++) {
      SimulatedNames names = new SimulatedNames();
      SimulatedFile file = new SimulatedFile();
      names.add(A, file);
      names.move(A, B);
      names.endForce(names.beginForce(DIRECTORY));
      names.losePower(new SplittableRandom(seed));
      assertThat(names.list(DIRECTORY, "")).containsExactly(B);
    }
  }

  private static void append(SimulatedFile file, int bytes, int value) {
    file.write(ByteBuffer.wrap(filled(bytes, value)), file.size(), bytes);
  }

  private static byte[] filled(int bytes, int value) {
    byte[] filled = new byte[bytes];
    Arrays.fill(filled, (byte) value);
    return filled;
  }

  private static byte[] content(SimulatedFile file) {
    ByteBuffer bytes = ByteBuffer.allocate(file.size());
    file.read(bytes, 0);
    return bytes.array();
  }
}
