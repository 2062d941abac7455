package org.traceetl.agent.config;

import java.util.List;

/**
 * The trace logs that are read.
 *
 * @param paths globs of the trace logs to follow, in OzHera's format; commas separate them in the
 *     variable. The only key that is reloaded from the configuration file
 * @param pollIntervalMillis how often files are checked; 1 to 60000. Idle files are checked less
 *     often, down to every 2 s, if checking them would take more than 2 % of a CPU
 * @param maxLineBytes longer lines are skipped and counted; 1024 to 4 MiB
 */
public record FilesConfig(List<String> paths, int pollIntervalMillis, int maxLineBytes) {
  public FilesConfig {
    paths = List.copyOf(paths);
  }

  /** Returns no files, an interval of 200 ms, and lines of up to 1 MiB. */
  public static FilesConfig defaults() {
    return new FilesConfig(List.of(), 200, 1024 * 1024);
  }
}
