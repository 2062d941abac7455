package org.traceetl.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code compare} reports about samples whose differences are known. */
class CompareCommandTest {
  private static final Duration INTERVAL = Duration.ofSeconds(15);

  /** Samples of the hour before, the minute to settle, the range of ten minutes, and a minute. */
  private static final int BEFORE = 4;

  private static final int SAMPLES = BEFORE + 4 + 40 + 4;
  private static final Instant END = Instant.parse("2020-01-01T01:00:00Z");
  private static final Instant FIRST = END.minus(INTERVAL.multipliedBy(BEFORE + 4 + 40 - 1));

  @TempDir private Path directory;

  private FakePrometheus prometheus;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @BeforeEach
  void start() throws IOException {
    prometheus = new FakePrometheus();
  }

  @AfterEach
  void stop() {
    prometheus.close();
  }

  @Test
  void equalCountsAreEqualAlsoIfOneSideIsLate() {
    left("GET /", i -> load(i));
    right("GET /", i -> 5_000 + load(i - 3));

    assertThat(compare()).as(err.toString()).isZero();
    assertThat(out.toString())
        .contains("left   300 spans in 1 series", "right  300 spans in 1 series")
        .contains("EQUAL: 1 pairs are equal, 0 are only late.");
  }

  @Test
  void spansInFlightAtTheEndsAreNoDifference() {
    left("GET /", i -> 10 * i);
    right("GET /", i -> 10 * (i - i % 3));

    assertThat(compare()).as(out.toString()).isZero();
    assertThat(out.toString()).contains("right - left = -10 spans", "1 are only late");
  }

  @Test
  void aRestartIsFoundWithItsLossToTheSpan() {
    left("GET /", i -> i < 20 ? load(i) : load(i) - load(19) - 7);
    left("GET /b", i -> load(i));
    right("GET /", i -> load(i));
    right("GET /b", i -> load(i));

    assertThat(compare()).isOne();
    assertThat(row("GET /\"")).matches("\\+7 293 300 " + at(20) + " reset \\(left restarted\\) .*");
    assertThat(out.toString())
        .doesNotContain("note")
        .endsWith(
            "DIFFERENT: the left lacks 7 spans and the right 0, in 1 pairs (reset 1); 1 pairs are"
                + " equal, 0 are only late.\n");
  }

  @Test
  void aSeriesThatEndsWithTheRestartLacksItsLastSpans() {
    left("GET /", i -> i < 20 ? load(i) : load(i) - load(19));
    left("last", i -> i < 20 ? Math.min(load(i), 62) : Double.NaN);
    right("GET /", i -> load(i));
    right("last", i -> Math.min(load(i), 62));

    assertThat(compare()).isOne();
    assertThat(row("last")).startsWith("+12 50 62 " + at(20) + " reset (left restarted)");
  }

  @Test
  void aProgramWithAnotherIdAfterItsRestartIsARestart() {
    add(
        "collector",
        Map.of("service_name", "shop", "span_name", "a", "collector_instance_id", "1"),
        i -> i < 20 ? load(i) : Double.NaN);
    add(
        "collector",
        Map.of("service_name", "shop", "span_name", "a", "collector_instance_id", "2"),
        i -> i < 22 ? Double.NaN : load(i) - load(21));
    right("a", i -> load(i));

    assertThat(compare()).isOne();
    assertThat(row("\"a\"")).startsWith("+20 280 300 ").contains(" reset ");
  }

  @Test
  void aRestartUnderLoadIsReportedAlthoughSpansAreInFlight() {
    left("GET /", i -> i < 20 ? 10 * i : 10 * (i - 20));
    right("GET /", i -> 10 * i);

    assertThat(compare()).isOne();
    assertThat(row("GET /")).startsWith("+10 390 400 ").contains(" reset (left restarted)");
    assertThat(out.toString()).contains("note   1 pairs have spans in flight");
  }

  @Test
  void whatIsMadeUpForLaterIsLate() {
    left("GET /", i -> load(i));
    right("GET /", i -> i > 10 && i < 30 ? load(10) : load(i));
    left("live", i -> 10 * i);
    right("live", i -> 10 * i - 10 * (i % 2));

    assertThat(compare()).as(out.toString()).isZero();
    assertThat(out.toString()).contains("EQUAL: ");
  }

  @Test
  void aLimitIsTheReasonIfItsSideHasAnOverflowSeries() {
    left("GET /1", i -> load(i));
    left("GET /2", i -> load(i));
    right("GET /1", i -> load(i));
    add("trace-etl", Map.of("service_name", "shop", "otel_metric_overflow", "true"), i -> load(i));

    assertThat(compare()).isOne();
    assertThat(row("GET /2")).startsWith("-300 300 0 ").contains(" limit ");
    assertThat(row("overflow")).startsWith("+300 0 300 ").contains(" limit ");
    assertThat(out.toString()).contains("(limit 2)");
  }

  @Test
  void otherValuesOfALabelAreItsReason() {
    left("GET /users/1", i -> load(i));
    left("GET /users/2", i -> load(i));
    right("GET /users/{id}", i -> 2 * load(i));

    assertThat(compare()).isOne();
    assertThat(out.toString()).contains("(name 3)");
    assertThat(row("/1\"")).contains(" name (differs in span_name) ");
  }

  @Test
  void aSeriesWithoutPartnerIsMissing() {
    left("GET /", i -> load(i));
    right("GET /", i -> load(i));
    right("new", i -> load(i));

    assertThat(compare()).isOne();
    assertThat(row("new")).startsWith("+300 0 300 ").contains(" missing (on the left) ");
  }

  @Test
  void aSteadyLossIsADrop() {
    left("GET /", i -> load(i));
    right("GET /", i -> load(i) - Math.floor(load(i) / 10));

    assertThat(compare()).isOne();
    assertThat(row("GET /")).startsWith("-30 300 270 ").contains(" drop (on the right) ");
    assertThat(compare("--tolerance", "30")).isZero();
  }

  @Test
  void aSeriesThatBeginsInTheRangeCountsFromZero() {
    left("GET /", i -> i < 15 ? Double.NaN : 1_000 + load(i));
    right("GET /", i -> load(i) - load(14));

    assertThat(compare()).isOne();
    assertThat(row("GET /")).contains(" 1,300 ");
    assertThat(out.toString()).contains("note   left: no series has a sample in the hour before");
    compare("--from-first-sample");
    assertThat(row("GET /")).matches("\\+10 \\d+ \\d+ .*");
  }

  @Test
  void labelsAreRenamedAndIgnored() {
    add("collector", Map.of("service", "shop", "host", "1", "instance", "a"), i -> load(i));
    add("collector", Map.of("service", "shop", "host", "2", "instance", "b"), i -> load(i));
    add("trace-etl", Map.of("service_name", "shop", "trace_etl_queue", "b/1"), i -> 2 * load(i));

    assertThat(compare()).isOne();
    assertThat(out.toString())
        .contains("labels of one side only: left [host, service], right [service_name]");
    assertThat(compare("--map", "service=service_name", "--ignore-label", "host")).isZero();
  }

  @Test
  void theLargestDifferencesArePrintedFirst() {
    for (int series = 1; series <= 5; series++) {
      int factor = series;
      left("op" + series, i -> load(i));
      right("op" + series, i -> load(i) * (1 + factor));
    }

    assertThat(compare("--top", "2")).isOne();
    assertThat(out.toString()).contains("op5", "op4", "3 more pairs differ").doesNotContain("op3");
  }

  @Test
  void labelsOfOthersDoNotActInTheReports() throws IOException {
    left("<script>alert(1)</script>\u001b[31m\"&'", i -> load(i));
    right("<img src=x onerror=alert(1)>", i -> 3 * load(i));
    prometheus.warn("<b>\u001b[2J");
    Path html = directory.resolve("report.html");

    assertThat(compare("--html", html.toString())).isOne();

    String page = Files.readString(html);
    assertThat(page)
        .contains("&lt;script&gt;alert(1)&lt;/script&gt;?[31m", "&lt;img src=x", "&lt;b&gt;?[2J")
        .contains("default-src 'none'", "<svg ", "<polyline ", "</html>")
        .doesNotContain("<script", "<img", "<b>", "\u001b", "http-equiv=\"refresh\"");
    assertThat(out.toString()).contains("<script>").doesNotContain("\u001b");
  }

  @Test
  void headersAreSentAndNotPrinted() throws IOException {
    left("GET /", i -> load(i));
    right("GET /", i -> load(i));
    Path headers =
        Files.writeString(
            directory.resolve("headers"), "Authorization: Bearer hush\n\nX-Scope-OrgID: shop\n");

    assertThat(compare("--left-headers", headers.toString())).isZero();
    assertThat(prometheus.headers("Authorization"))
        .containsExactly("Bearer hush", "Bearer hush", "", "");
    assertThat(prometheus.headers("X-Scope-OrgID")).contains("shop");

    Files.writeString(headers, "X-Fine: 1\nhush");
    assertThat(compare("--left-headers", headers.toString())).isEqualTo(2);
    assertThat(err.toString())
        .isEqualTo("--left-headers = " + headers + ": line 2 must be NAME: VALUE\n");
    Files.writeString(headers, "Host: hush");
    assertThat(compare("--left-headers", headers.toString())).isEqualTo(2);
    assertThat(err + "" + out).doesNotContain("hush");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/gone | 404 | nothing here | status 404: the answer is not one of",
        "/page | 200 | <html></html> | the answer is not one of the Prometheus query API",
        "/list | 200 | [] | the answer is not one of the Prometheus query API",
        "/other | 200 | {} | the answer is not one of the Prometheus query API",
        "/cut | 200 | {\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{ | the answer is not",
        "/busy | 422 | {\"status\":\"error\",\"error\":\"too many samples\"} | status 422: too many samples",
        "/moved | 302 | moved | status 302",
        "/native | 200 | {\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{},\"histogram\":[1,{}]}]}} | native histogram",
        "/none | 200 | {\"status\":\"success\",\"data\":{\"result\":[]}} | has no samples of {__name__=",
      })
  void answersWithoutSeriesAreRefused(String path, int status, String body, String problem) {
    left("GET /", i -> load(i));
    prometheus.answer(path, status, body);

    assertThat(run(arguments(prometheus.url(), prometheus.url() + path))).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("--right = " + prometheus.url() + path + ": ")
        .contains(problem)
        .hasLineCount(1);
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void anAbsentPrometheusIsNamed() {
    String url = prometheus.url();
    prometheus.close();

    assertThat(run(arguments(url, url))).isEqualTo(2);
    assertThat(err.toString()).isEqualTo("--left = " + url + ": cannot connect\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "--left ftp://a | --left: must be http://HOST:PORT",
        "--left http://user:hush@a | --left: must be http://HOST:PORT",
        "--left http://a?x=1 | --left: must be http://HOST:PORT",
        "--left a | --left: must be http://HOST:PORT",
        "--range 1w | '1w' is not a number of seconds, minutes, hours or days",
        "--range 32d | --range: must be 1s to 31d",
        "--pane 2h | --pane: must be 1s to --range",
        "--pane 0s | --pane: must be 1s to --range",
        "--range 7d --pane 1s | --pane: must be longer",
        "--settle 2h | --settle: must be at most 1h",
        "--end yesterday | 'yesterday' is not a time in UTC",
        "--end 2999-01-01T00:00:00Z | must be at least --settle ago",
        "--tolerance -1 | --tolerance: must be 0 or more",
        "--top -1 | --top",
        "--timeout 0s | --timeout = 0s: must be 1s or more",
        "--left-selector job=\"trace-etl\" | --right: must select other series than --left",
        "--left-headers /absent | --left-headers = /absent: does not exist",
        "--ca-file /absent | --ca-file = /absent: must be a PEM file",
      })
  void invalidOptionsAreRefused(String options, String problem) {
    List<String> arguments = new ArrayList<>(List.of("compare"));
    Map<String, String> values = new TreeMap<>();
    values.put("--left", "http://127.0.0.1:1");
    values.put("--right", "http://127.0.0.1:1");
    values.put("--left-selector", "job=\"collector\"");
    values.put("--right-selector", "job=\"trace-etl\"");
    String[] words = options.split(" ", -1);
    for (int i = 0; i < words.length; i += 2) {
      values.put(words[i], words[i + 1]);
    }
    values.forEach((name, value) -> arguments.addAll(List.of(name, value)));

    assertThat(run(arguments)).isEqualTo(2);
    assertThat(err.toString()).contains(problem).doesNotContain("hush");
    assertThat(out.toString()).isEmpty();
  }

  /** 300 spans within the range, with a pause at both of its ends. */
  private static double load(int sample) {
    return 10.0 * Math.clamp(sample - 14, 0, 30);
  }

  private void left(String name, IntToDoubleFunction value) {
    add("collector", Map.of("service_name", "shop", "span_name", name), value);
  }

  private void right(String name, IntToDoubleFunction value) {
    add("trace-etl", Map.of("service_name", "shop", "span_name", name), value);
  }

  private void add(String job, Map<String, String> labels, IntToDoubleFunction value) {
    Map<String, String> all = new TreeMap<>(labels);
    all.put("__name__", "traces_span_metrics_calls_total");
    all.put("job", job);
    prometheus.add(all, FIRST, INTERVAL, IntStream.range(0, SAMPLES).mapToDouble(value).toArray());
  }

  private int compare(String... options) {
    return run(
        Stream.concat(arguments(prometheus.url(), prometheus.url()).stream(), Stream.of(options))
            .toList());
  }

  private static List<String> arguments(String left, String right) {
    return List.of(
        "compare",
        "--left",
        left,
        "--left-selector",
        "{job=\"collector\"}",
        "--right",
        right,
        "--right-selector",
        "job=\"trace-etl\"",
        "--range",
        "10m",
        "--settle",
        "1m",
        "--end",
        END.toString());
  }

  private int run(List<String> arguments) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    return TraceEtlServer.run(
        new PrintWriter(out, true), new PrintWriter(err, true), arguments.toArray(String[]::new));
  }

  /** Returns the line of the table with this text, with single spaces. */
  private String row(String text) {
    return out.toString()
        .lines()
        .filter(line -> line.contains(text) && !line.startsWith("note"))
        .findFirst()
        .orElseThrow(() -> new AssertionError(out + "" + err))
        .strip()
        .replaceAll(" +", " ");
  }

  private static String at(int sample) {
    return FIRST.plus(INTERVAL.multipliedBy(sample)).toString();
  }
}
