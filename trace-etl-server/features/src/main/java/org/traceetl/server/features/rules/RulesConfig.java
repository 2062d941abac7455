package org.traceetl.server.features.rules;

import java.nio.file.Path;

/**
 * Rules that servers apply while they run: {@code trace-etl.rules}.
 *
 * @param file file of rules (YAML), which the server reads again while it runs; none: the server
 *     follows the rules of other servers' files. Only its {@code documents.slower-than} and {@code
 *     documents.thresholds} may be set
 */
public record RulesConfig(Path file) {
  /** Maximum length of a file of rules, in bytes. */
  public static final int MAX_FILE_BYTES = 1 << 20;

  static RulesConfig defaults() {
    return new RulesConfig(null);
  }
}
