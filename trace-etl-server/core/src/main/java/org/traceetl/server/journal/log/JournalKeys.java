package org.traceetl.server.journal.log;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The servers' keys, read from a file. Its lines are {@code NAME SECRET}, the secret in Base64, and
 * {@code NAME SECRET active} for the one key that writes messages. Empty lines and those that begin
 * with {@code #} are ignored. A changed file takes effect a few seconds later; if it is invalid,
 * the previous keys remain. Thread-safe.
 */
public final class JournalKeys {
  public static final String KEY = "trace-etl.journal.keys-file";

  private static final Logger log = LoggerFactory.getLogger(JournalKeys.class);
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final int MAX_BYTES = 1 << 16;
  private static final int MIN_SECRET_BYTES = 32;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,32}");
  private static final Pattern BLANKS = Pattern.compile("\\s+");

  private final Path file;
  private final boolean acceptUnsigned;
  private final LongSupplier nanoTime;
  private String content;
  private Ring ring;
  private long lookedNanos;

  /**
   * Keys by ID.
   *
   * @param active writes messages; null to write them without a code
   */
  public record Ring(JournalKey active, Map<String, JournalKey> byId) {
    public JournalKey key(String id) {
      return byId.get(id);
    }

    Collection<JournalKey> all() {
      return byId.values();
    }
  }

  /**
   * Checks the file.
   *
   * @throws IllegalArgumentException if it is invalid
   */
  public static void check(Path file, boolean acceptUnsigned) {
    new JournalKeys(file, acceptUnsigned, () -> 0).ring();
  }

  /**
   * Reads the file for the first time.
   *
   * @param acceptUnsigned whether messages without a code also count
   * @throws IllegalArgumentException if the file is invalid
   */
  public JournalKeys(Path file, boolean acceptUnsigned, LongSupplier nanoTime) {
    this.file = file;
    this.acceptUnsigned = acceptUnsigned;
    this.nanoTime = nanoTime;
    try {
      content = content();
    } catch (IOException e) {
      throw refused(file, "must be a file that can be read: " + e);
    }
    ring = parse(content);
    lookedNanos = nanoTime.getAsLong();
  }

  Path file() {
    return file;
  }

  /** Returns whether messages without a code count. */
  boolean acceptUnsigned() {
    return acceptUnsigned;
  }

  /** Returns the current keys. */
  public synchronized Ring ring() {
    long nowNanos = nanoTime.getAsLong();
    if (nowNanos - lookedNanos >= LOOK_NANOS) {
      lookedNanos = nowNanos;
      look();
    }
    return ring;
  }

  private void look() {
    try {
      String now = content();
      if (!now.equals(content)) {
        // An invalid file is reported once.
        content = now;
        ring = parse(now);
        log.info("The keys of the journal were re-read from {}: keys={}", file, ring.all());
      }
    } catch (IOException | IllegalArgumentException e) {
      log.warn(
          "Could not re-read the keys of the journal; the previous keys stay in use: {}",
          e.getMessage());
    }
  }

  private String content() throws IOException {
    if (Files.size(file) > MAX_BYTES) {
      throw refused(file, "must be at most 64 KiB long");
    }
    return Files.readString(file, StandardCharsets.ISO_8859_1);
  }

  private Ring parse(String text) {
    Map<String, JournalKey> byId = new LinkedHashMap<>();
    JournalKey active = null;
    int number = 0;
    for (String line : text.lines().toList()) {
      String where = file + ":" + ++number;
      String stripped = line.strip();
      if (stripped.isEmpty() || stripped.charAt(0) == '#') {
        continue;
      }
      String[] words = BLANKS.split(stripped);
      boolean isActive = words.length == 3 && words[2].equals("active");
      if (words.length != 2 && !isActive || !NAME.matcher(words[0]).matches()) {
        throw refused(where, "must be NAME SECRET or NAME SECRET active");
      }
      JournalKey key = new JournalKey(words[0], secret(words[1], where));
      if (byId.put(key.id(), key) != null) {
        throw refused(where, "has a key of a line above");
      }
      if (isActive && active != null) {
        throw refused(where, "is the second active key; one at most is active");
      }
      active = isActive ? key : active;
    }
    if (byId.isEmpty()) {
      throw refused(file, "must have a line NAME SECRET active");
    }
    if (active == null && !acceptUnsigned) {
      throw refused(
          file,
          "must have an active key, or trace-etl.journal.accept-unsigned must be true: this server"
              + " would not read what it writes");
    }
    return new Ring(active, byId);
  }

  /** Decodes a secret. Errors do not quote the line, because it contains the secret. */
  private static byte[] secret(String text, String where) {
    byte[] secret;
    try {
      secret = Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      throw refused(where, "must have a secret in Base64, as `openssl rand -base64 32` prints it");
    }
    if (secret.length < MIN_SECRET_BYTES) {
      throw refused(where, "must have a secret of 32 bytes at least");
    }
    return secret;
  }

  private static IllegalArgumentException refused(Object where, String rule) {
    return new IllegalArgumentException(KEY + " = " + where + ": " + rule);
  }
}
