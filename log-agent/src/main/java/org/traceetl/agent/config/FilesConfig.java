package org.traceetl.agent.config;

import java.util.List;

/**
 * The trace logs to read.
 *
 * @param paths globs of files, such as {@code /home/work/log/app-*} followed by {@code
 *     /trace/trace.log}; none: nothing is read
 * @param pollIntervalMillis how often files are looked at for new lines
 * @param maxLineBytes longer lines are skipped and counted
 */
public record FilesConfig(List<String> paths, int pollIntervalMillis, int maxLineBytes) {
  public FilesConfig {
    paths = List.copyOf(paths);
  }

  /** No files; looked at every 200 ms; lines up to 1 MiB. */
  public static FilesConfig defaults() {
    return new FilesConfig(List.of(), 200, 1024 * 1024);
  }
}
