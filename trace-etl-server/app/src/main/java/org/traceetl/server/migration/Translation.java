package org.traceetl.server.migration;

import java.nio.file.Path;
import java.util.List;

/**
 * A translated configuration.
 *
 * @param yaml configuration of this server
 * @param gaps keys of the file that have no exact counterpart, a line each: place, key, value, and
 *     what happens
 */
public record Translation(String yaml, List<String> gaps) {

  /**
   * Translates a configuration of the OpenTelemetry Collector.
   *
   * @param connector name of the connector; null for the first one that a pipeline uses
   * @throws IllegalArgumentException if the file is unreadable or invalid, with a line per error
   */
  public static Translation ofCollector(Path file, String connector) {
    Report report = new Report(file);
    ServerYaml yaml =
        new CollectorImport(report).translate(SourceFile.read(file, report), connector);
    return of(yaml, report);
  }

  /**
   * Translates a configuration of Grafana Tempo.
   *
   * @throws IllegalArgumentException if the file is unreadable or invalid, with a line per error
   */
  public static Translation ofTempo(Path file) {
    Report report = new Report(file);
    ServerYaml yaml = new TempoImport(report).translate(SourceFile.read(file, report));
    return of(yaml, report);
  }

  private static Translation of(ServerYaml yaml, Report report) {
    report.throwIfAnyProblem();
    return new Translation(yaml.toString(), report.gaps());
  }
}
