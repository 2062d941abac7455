package org.traceetl.server.canary;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

final class CanaryTelemetryTest {
  private static final Path DOCUMENT = Path.of("..", "..", "docs", "metrics.md");

  @Test
  void everyMetricStandsInTheDocumentWithItsTypeAndHelp() throws Exception {
    String page = new CanaryTelemetry(List.of()).text();
    List<String> rows =
        Files.readAllLines(DOCUMENT).stream()
            .filter(line -> line.startsWith("| `trace_etl_canary_"))
            .toList();
    List<String[]> families =
        Pattern.compile("# HELP (trace_etl_\\S+) (.*)\n# TYPE \\1 (\\S+)")
            .matcher(page)
            .results()
            .map(one -> new String[] {one.group(1), one.group(3), one.group(2)})
            .toList();

    assertThat(families).hasSameSizeAs(rows).hasSizeGreaterThan(5);
    for (String[] family : families) {
      assertThat(rows)
          .anyMatch(row ->
              row.startsWith("| `" + family[0] + "` | " + family[1] + " |")
                  && row.endsWith("| " + family[2] + " |"));
    }
  }
}
