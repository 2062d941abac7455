package org.traceetl.server.binding;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.core.userdetails.UsernameNotFoundException;
import org.traceetl.common.LogThrottle;

/**
 * The users who can sign in with name and password: lines {@code name:hash} as {@code htpasswd -B}
 * writes them, with a bcrypt hash. Empty lines and lines that begin with {@code #} are ignored. A
 * changed file takes effect a few seconds later; if it is invalid, the previous users stay in force
 * and the log reports it.
 */
public final class UsersFile implements UserDetailsService {
  private static final Logger log = LoggerFactory.getLogger(UsersFile.class);
  private static final long LOOK_MILLIS = 2_000;
  private static final int MAX_BYTES = 1 << 20;
  private static final int MAX_NAME = 255;
  private static final Pattern BCRYPT = Pattern.compile("\\$2[aby]\\$(\\d\\d)\\$[./A-Za-z0-9]{53}");

  /** Maximum cost: each step doubles the work of a sign-in, and higher costs take seconds. */
  private static final int MAX_COST = 14;

  private static final int COST_AT = 4;

  private final Path file;
  private final InstantSource clock;
  private final LogThrottle throttle;
  private Map<String, String> hashes;
  private FileTime modified;
  private long lookedMillis;

  /**
   * @throws IllegalArgumentException if the file is invalid
   */
  public UsersFile(Path file, InstantSource clock) {
    this.file = file;
    this.clock = clock;
    throttle = new LogThrottle(clock);
    modified = modified(file);
    hashes = read(file);
    lookedMillis = clock.millis();
  }

  /**
   * Returns the hashes by name.
   *
   * @throws IllegalArgumentException with the line and its error
   */
  static Map<String, String> read(Path file) {
    List<String> lines;
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw refused(file, "must be at most 1 MiB");
      }
      lines = Files.readAllLines(file);
    } catch (IOException e) {
      throw refused(file, "must be a readable file: " + e);
    }
    Map<String, String> hashes = new HashMap<>();
    for (int line = 0; line < lines.size(); line++) {
      String text = lines.get(line).strip();
      if (!text.isEmpty() && text.charAt(0) != '#') {
        add(hashes, text, file + ":" + (line + 1));
      }
    }
    if (hashes.isEmpty()) {
      throw refused(file, "must contain at least one line name:hash");
    }
    return hashes;
  }

  /** Reports the line without its content, which may be a password. */
  private static void add(Map<String, String> hashes, String text, String where) {
    int colon = text.indexOf(':');
    if (colon < 1 || colon > MAX_NAME) {
      throw refused(where, "must be name:hash");
    }
    String name = text.substring(0, colon);
    var bcrypt = BCRYPT.matcher(text.substring(colon + 1));
    if (!bcrypt.matches() || Integer.parseInt(bcrypt.group(1)) > MAX_COST) {
      throw refused(
          where,
          "must have a bcrypt hash with a cost of at most "
              + MAX_COST
              + " after the name, as `htpasswd -B` writes it");
    }
    if (hashes.put(name, bcrypt.group()) != null) {
      throw refused(where, "repeats a name of an earlier line");
    }
  }

  /** Returns the hash with the slowest comparison. */
  public int highestCost() {
    return current().values().stream()
        .mapToInt(hash -> Integer.parseInt(hash.substring(COST_AT, COST_AT + 2)))
        .max()
        .orElseThrow();
  }

  @Override
  public UserDetails loadUserByUsername(String name) {
    String hash = current().get(name);
    if (hash == null) {
      throw new UsernameNotFoundException("no such user");
    }
    return User.withUsername(name).password(hash).authorities("person").build();
  }

  private synchronized Map<String, String> current() {
    long nowMillis = clock.millis();
    if (nowMillis - lookedMillis >= LOOK_MILLIS) {
      lookedMillis = nowMillis;
      FileTime now = modified(file);
      if (!now.equals(modified)) {
        try {
          hashes = read(file);
          modified = now;
          log.info("Read {} users who can sign in from {}", hashes.size(), file);
        } catch (IllegalArgumentException e) {
          if (throttle.permits()) {
            log.warn("{}; the previous users stay in force", e.getMessage());
          }
        }
      }
    }
    return hashes;
  }

  private static IllegalArgumentException refused(Object where, String rule) {
    return new IllegalArgumentException("trace-etl.web.users-file = " + where + ": " + rule);
  }

  /** Returns the earliest time for a missing file. */
  private static FileTime modified(Path file) {
    try {
      return Files.getLastModifiedTime(file);
    } catch (IOException e) {
      return FileTime.fromMillis(0);
    }
  }
}
