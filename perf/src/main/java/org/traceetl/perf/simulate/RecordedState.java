package org.traceetl.perf.simulate;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;
import org.traceetl.perf.simulate.world.Durable;

/**
 * What an installation leaves when all its programs are killed at one instant: the disks of agents,
 * brokers with spans and journals, the index, and what the checks know. A run of another build can
 * begin with it, so that its programs must read the formats of the build that wrote it. One such
 * state of each release is kept, and seeds draw it.
 *
 * <p>The state crosses from build to build as bytes. A class loader that runs both builds in one
 * world was rejected: the interfaces between programs and devices carry classes of the product
 * (batches of the spool, configurations, records of decisions), which belong to one build only.
 * Hence programs of two builds never run at the same time here. Each direction is covered: a later
 * build reads what an earlier one left, and after a rollback the reverse.
 */
final class RecordedState {
  /**
   * The states of releases, oldest first. A release adds one: {@code bin/simulate --replay
   * .../states/recording.txt --hours 0.12 --record .../states/release-N.zip}.
   */
  static final List<String> RELEASES = List.of("release-1.zip");

  private static final String TIME = "time";

  private final SortedMap<String, byte[]> parts;

  private RecordedState(SortedMap<String, byte[]> parts) {
    this.parts = parts;
  }

  /** Writes a file. */
  static void write(Path file, long unixMillis, SortedMap<String, Durable> parts)
      throws IOException {
    try (OutputStream out = Files.newOutputStream(file);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      zip.putNextEntry(new ZipEntry(TIME));
      zip.write(ByteBuffer.allocate(Long.BYTES).putLong(unixMillis).array());
      for (Map.Entry<String, Durable> part : parts.entrySet()) {
        zip.putNextEntry(new ZipEntry(part.getKey()));
        var bytes = new ByteArrayOutputStream();
        part.getValue().write(new DataOutputStream(bytes));
        zip.write(bytes.toByteArray());
      }
    }
  }

  /**
   * Reads a state.
   *
   * @param name of a release's state, or path of a file
   */
  static RecordedState read(String name) throws IOException {
    SortedMap<String, byte[]> parts = new TreeMap<>();
    try (InputStream in = open(name);
        ZipInputStream zip = new ZipInputStream(in)) {
      for (ZipEntry part = zip.getNextEntry(); part != null; part = zip.getNextEntry()) {
        parts.put(part.getName(), zip.readAllBytes());
      }
    }
    if (!parts.containsKey(TIME)) {
      throw new IOException(name + " is no recorded state");
    }
    return new RecordedState(parts);
  }

  private static InputStream open(String name) throws IOException {
    return RELEASES.contains(name)
        ? RecordedState.class.getResourceAsStream("states/" + name)
        : Files.newInputStream(Path.of(name));
  }

  /** Returns the time of day at which it was recorded. */
  long unixMillis() {
    return ByteBuffer.wrap(parts.get(TIME)).getLong();
  }

  /**
   * Continues with it.
   *
   * @param world its parts by name; those that were not recorded stay as they are
   * @throws IOException if a recorded part has no place, or cannot be read
   */
  void continueIn(SortedMap<String, Durable> world) throws IOException {
    for (Map.Entry<String, byte[]> part : parts.entrySet()) {
      if (part.getKey().equals(TIME)) {
        continue;
      }
      Durable to = world.get(part.getKey());
      if (to == null) {
        throw new IOException("the state has " + part.getKey() + ", which this plan lacks");
      }
      to.read(new DataInputStream(new ByteArrayInputStream(part.getValue())));
    }
  }
}
