package org.traceetl.agent.config;

import java.nio.file.Path;
import java.util.Optional;

/**
 * The rings that applications of the host write their spans into.
 *
 * @param enabled whether they are read
 * @param directory where they are: on tmpfs; made if missing, its parent is not
 * @param group of those who may make rings; empty: all users may
 * @param maxRings that are read at the same time; more wait
 * @param maxBytes of the rings that are read at the same time, as files; more wait
 * @param maxDictionaryBytes on the heap, of all rings' strings; a quarter of it is one ring's most
 */
public record RingConfig(
    boolean enabled,
    Path directory,
    Optional<String> group,
    int maxRings,
    long maxBytes,
    int maxDictionaryBytes) {
  /** Those in {@code /dev/shm/trace-etl}: 256 with 4 GiB and strings of 16 MiB. */
  public static RingConfig defaults() {
    return new RingConfig(
        true, Path.of("/dev/shm/trace-etl"), Optional.empty(), 256, 4L << 30, 16 * 1024 * 1024);
  }
}
