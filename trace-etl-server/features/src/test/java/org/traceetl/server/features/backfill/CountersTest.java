package org.traceetl.server.features.backfill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.ConfigException;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.window.SeriesDefinition;

/** The samples of counters in files. */
class CountersTest {
  private static final long PANE_MILLIS = 15_000;
  private static final long IDLE_MILLIS = 120_000;

  /** Begin of a file: 2026-11-29T10:00:00Z. */
  private static final long BLOCK = 1_795_946_400_000L;

  private static final SpanNaming NAMING =
      new SpanNaming(
          new MetricsConfig(null, "bf_spans", null, null, null, null, null),
          SeriesConfig.defaults(),
          new HistogramConfig(List.of(2.5)));
  private static final SeriesKey PAY = key("pay");
  private static final SeriesKey SHOP = key("shop");

  @TempDir private Path directory;

  private static SeriesKey key(String application) {
    return new SeriesKey(
        new SeriesDefinition(1, 0, false, List.of(application, "GET /", "2", "0")),
        NAMING,
        News.NONE);
  }

  private static Totals sum(long fast, long slow, long nanos) {
    Totals sum = new Totals(NAMING.stride());
    sum.add(new long[] {9, fast, slow}, 1, nanos);
    return sum;
  }

  private static Counters counters(SampleFiles files) {
    return new Counters(
        files, null, NAMING.stride(), NAMING.buckets(), PANE_MILLIS, IDLE_MILLIS, Long.MAX_VALUE);
  }

  private List<String> samples(String file) throws IOException {
    return Files.readAllLines(directory.resolve(file)).stream()
        .filter(line -> line.startsWith("bf_spans_calls"))
        .map(line -> line.replaceAll(".*service_name=\"(\\w+)\".*} ", "$1 "))
        .toList();
  }

  @Test
  void filesHaveTheBlocksOfPromtool() throws Exception {
    try (OutputDirectory output = OutputDirectory.open(directory)) {
      SampleFiles files = new SampleFiles(output, NAMING);
      Counters counters = counters(files);
      counters.endPane(BLOCK - PANE_MILLIS, Map.of(SHOP, sum(1, 0, 1_000_000)));
      assertThat(directory.resolve("2026-11-29T08-00Z.om")).doesNotExist();
      // The first pane end of a block; its series begins in the block before.
      counters.endPane(BLOCK, Map.of(SHOP, sum(0, 2, 7_500_000), PAY, sum(1, 0, 2)));
      assertThat(directory.resolve("2026-11-29T08-00Z.om")).exists();
      files.finish();
      assertThat(files.files()).isEqualTo(2);
      assertThat(counters.spans()).isEqualTo(4);
      assertThat(counters.series()).isEqualTo(2);
    }

    assertThat(Files.readString(directory.resolve("2026-11-29T10-00Z.om")))
        .isEqualTo(
            """
            # HELP bf_spans_calls Spans, by service, name, kind and status.
            # TYPE bf_spans_calls counter
            # HELP bf_spans_duration_milliseconds Duration of spans in milliseconds.
            # TYPE bf_spans_duration_milliseconds histogram
            # UNIT bf_spans_duration_milliseconds milliseconds
            bf_spans_calls_total{PAY} 1 1795946400
            bf_spans_duration_milliseconds_bucket{PAY,le="2.5"} 1 1795946400
            bf_spans_duration_milliseconds_bucket{PAY,le="+Inf"} 1 1795946400
            bf_spans_duration_milliseconds_count{PAY} 1 1795946400
            bf_spans_duration_milliseconds_sum{PAY} 0.000002 1795946400
            bf_spans_calls_total{SHOP} 3 1795946400
            bf_spans_duration_milliseconds_bucket{SHOP,le="2.5"} 1 1795946400
            bf_spans_duration_milliseconds_bucket{SHOP,le="+Inf"} 3 1795946400
            bf_spans_duration_milliseconds_count{SHOP} 3 1795946400
            bf_spans_duration_milliseconds_sum{SHOP} 8.5 1795946400
            # EOF
            """
                .replace("PAY", labels("pay"))
                .replace("SHOP", labels("shop")));
    assertThat(samples("2026-11-29T08-00Z.om"))
        .containsExactly("shop 0 1795946377.5", "shop 1 1795946385", "pay 0 1795946392.5");
  }

  private static String labels(String application) {
    return "service_name=\""
        + application
        + "\",span_name=\"GET /\",span_kind=\"SPAN_KIND_SERVER\",status_code=\"STATUS_CODE_UNSET\"";
  }

  @Test
  void countersAreRepeatedUntilTheyAreIdle() throws Exception {
    try (OutputDirectory output = OutputDirectory.open(directory)) {
      SampleFiles files = new SampleFiles(output, NAMING);
      Counters counters = counters(files);
      for (long pane = 1; pane <= 12; pane++) {
        counters.endPane(
            BLOCK + pane * PANE_MILLIS,
            pane == 1 || pane == 10 ? Map.of(SHOP, sum(1, 0, 0)) : Map.of());
      }
      files.finish();
    }

    assertThat(samples("2026-11-29T10-00Z.om"))
        .containsExactly(
            "shop 0 1795946407.5",
            "shop 1 1795946415",
            "shop 1 1795946475",
            // It was idle at 1795946535, so it begins again.
            "shop 0 1795946542.5",
            "shop 1 1795946550");
  }

  @Test
  void finishedFilesStay() throws Exception {
    Files.writeString(directory.resolve("plan.json"), "{}");
    Files.writeString(directory.resolve("2026-11-29T08-00Z.om"), "finished");
    Files.writeString(directory.resolve("2026-11-29T10-00Z.om.tmp"), "unfinished ".repeat(1_000));
    try (OutputDirectory output = OutputDirectory.open(directory)) {
      SampleFiles files = new SampleFiles(output, NAMING);
      Counters counters = counters(files);
      counters.endPane(BLOCK, Map.of(SHOP, sum(1, 0, 0)));
      files.finish();
      assertThatThrownBy(() -> OutputDirectory.open(directory))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("is in use by another backfill");
    }

    assertThat(directory.resolve("2026-11-29T08-00Z.om")).hasContent("finished");
    assertThat(samples("2026-11-29T10-00Z.om")).containsExactly("shop 1 1795946400");
    assertThat(Arrays.stream(directory.toFile().list()).sorted())
        .containsExactly(".lock", "2026-11-29T08-00Z.om", "2026-11-29T10-00Z.om", "plan.json");
  }

  @Test
  void foreignDirectoriesAreRefused() throws Exception {
    Path file = Files.writeString(directory.resolve("other.txt"), "");
    assertThatThrownBy(() -> OutputDirectory.open(directory))
        .isInstanceOf(ConfigException.class)
        .hasMessageEndingWith(": must be empty, or have the plan of this backfill");
    assertThatThrownBy(() -> OutputDirectory.open(file))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("--output = ");
    Files.writeString(directory.resolve("plan.json"), "no plan");
    try (OutputDirectory output = OutputDirectory.open(directory)) {
      assertThatThrownBy(output::plan)
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("has a malformed plan.json");
    }
  }
}
