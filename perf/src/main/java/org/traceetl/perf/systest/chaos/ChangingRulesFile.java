package org.traceetl.perf.systest.chaos;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** The file of rules that all servers read while they run. Confined to one thread. */
final class ChangingRulesFile {
  /** The application whose dimensions change. */
  static final String APPLICATION = SpanLoad.SERVICES.getFirst();

  /** How long servers demand the dimensions before and after a change, until they switch. */
  static final Duration SWITCH_AFTER = Duration.ofSeconds(10);

  private final Path file;
  private long revision = 1;
  private boolean hasRegion;

  ChangingRulesFile(Path file) throws IOException {
    this.file = file;
    write();
  }

  Path path() {
    return file;
  }

  /** Adds a dimension to the application, or removes it if the application has it. */
  void change() throws IOException {
    revision++;
    hasRegion = !hasRegion;
    write();
  }

  /**
   * Returns whether all servers follow the file, and some series has the dimension that it adds.
   */
  boolean isFollowed(Observation now) {
    return now.complete() && now.rulesRevision() >= revision && (now.hasRegion() || !hasRegion);
  }

  /** Returns the content of the file: the added dimension, and that of the configuration. */
  static String rules(long revision, boolean hasRegion) {
    return "revision: "
        + revision
        + "\n"
        + (hasRegion
            ? """
            applications:
              - application: %s
                series:
                  dimensions:
                    - attribute: %s
                    - attribute: %s
            """
                .formatted(APPLICATION, SentSpan.INTERVAL, SentSpan.REGION)
            : "");
  }

  private void write() throws IOException {
    ChangingRoutingFile.replace(file, rules(revision, hasRegion));
  }
}
