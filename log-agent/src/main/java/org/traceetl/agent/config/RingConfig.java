package org.traceetl.agent.config;

import java.nio.file.Path;
import java.util.Optional;

/**
 * The rings into which applications on the host write their spans.
 *
 * @param enabled whether applications may write spans into memory that they share with the agent.
 *     If the directory is unavailable, the agent logs it and retries
 * @param directory absolute path of the rings, on tmpfs; created if missing, with sticky and setgid
 *     bits; its owner must be the agent's user; one agent at a time
 * @param group group, by name or number, whose members may create rings; the agent must be a
 *     member, or root; none: all users
 * @param maxRings rings read at the same time, one per process; further ones wait; 1 to 4096. One
 *     user gets at most three quarters
 * @param maxBytes total file size of the rings read at the same time; further ones wait; 1 MiB to 1
 *     TiB. One user gets at most three quarters. This is the applications' memory
 * @param maxDictionaryBytes heap for the strings of all rings; 64 KiB to 1 GiB. One user gets at
 *     most half. A ring that needs more than a quarter is given up; a ring whose strings do not fit
 *     waits
 */
public record RingConfig(
    boolean enabled,
    Path directory,
    Optional<String> group,
    int maxRings,
    long maxBytes,
    int maxDictionaryBytes) {
  /** Returns {@code /dev/shm/trace-etl}, 256 rings of 4 GiB, and 16 MiB for strings. */
  public static RingConfig defaults() {
    return new RingConfig(
        true, Path.of("/dev/shm/trace-etl"), Optional.empty(), 256, 4L << 30, 16 * 1024 * 1024);
  }
}
