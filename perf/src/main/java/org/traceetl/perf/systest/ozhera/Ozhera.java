package org.traceetl.perf.systest.ozhera;

import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.traceetl.perf.bench.report.Results;
import org.traceetl.perf.systest.IndexedDocuments;
import org.traceetl.perf.systest.Installation;
import org.traceetl.perf.systest.SystemTest;
import org.traceetl.testkit.Program;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command line of a run, from the start of all programs to the comparison. */
@Command(
    name = "ozhera",
    description = {
      "Sends traffic of OzHera's agents through RocketMQ to two servers in profile ozhera. Two"
          + " Prometheus scrape them every 15 s and every 30 s, while another client reads the pages"
          + " and a server is killed. Then sends the queries of OzHera's dashboards to both, and"
          + " compares the answers and the documents in Elasticsearch with what was sent.",
      ""
    },
    footer = {
      "",
      "The last line is spans=… series=… differing=0 lost=0 doubled=0 documents=… documents_missing=0"
          + " documents_wrong=0",
      "Exit codes: 0 if nothing differs; 1 otherwise, or if the installation did not work; 2 for"
          + " wrong usage."
    })
public final class Ozhera extends SystemTest<OzheraInstallation> {
  private static final int PARTITIONS = 2;
  private static final String STATISTICS =
      OzheraInstallation.ENV + "_trace_statistics_span_count_total";
  private static final Duration READER_INTERVAL = Duration.ofSeconds(7);

  /** The time after a scrape in which a server may not have marked the delivered data yet. */
  private static final double UNSURE_SECONDS = 1;

  /** The time from a server's kill to its restart. */
  private static final Duration DOWN = Duration.ofSeconds(10);

  /** A difference that has not changed for this duration is final. */
  private static final Duration STILL = Duration.ofSeconds(100);

  /** The longest delay of Elasticsearch. */
  private static final Duration DOCUMENTS_LIMIT = Duration.ofSeconds(30);

  private static final Duration DRAIN_LIMIT = Duration.ofMinutes(5);
  private static final Duration PROGRESS = Duration.ofSeconds(10);
  private static final Duration LOOK = Duration.ofSeconds(3);
  private static final Duration TICK = Duration.ofMillis(20);
  private static final Duration READY_LIMIT = Duration.ofMinutes(2);
  private static final int MOST_TOLD = 30;

  @Option(
      names = "--duration",
      paramLabel = "3m",
      description = "How long to send (default: ${DEFAULT-VALUE}).")
  private String duration = "3m";

  @Option(names = "--rate", description = "Spans per second (default: ${DEFAULT-VALUE}).")
  private int rate = 500;

  @Option(names = "--window", description = "The servers' window (default: ${DEFAULT-VALUE}).")
  private String window = "15s";

  @Option(names = "--no-kill", description = "Kills no server.")
  private boolean noKill;

  @Option(
      names = "--kill-any-time",
      description =
          "Kills a server even just after a scrape. Deltas that it has just delivered may then not"
              + " be marked as delivered; they are delivered twice, and differ.")
  private boolean killAnyTime;

  @Option(
      names = "--temporality",
      description =
          "Temporality of the servers' pages: delta or cumulative (default: ${DEFAULT-VALUE})."
              + " Cumulative series are compared by their last values, and a server may be killed at"
              + " any time.")
  private Temporality temporality = Temporality.DELTA;

  @Option(names = "--no-documents", description = "Runs without Elasticsearch.")
  private boolean noDocuments;

  private Duration sending;
  private Duration windowLength;
  private final Oracle oracle =
      new Oracle(OzheraInstallation.ENV, OzheraInstallation.DOMAIN, SpanGenerator.RULES);

  public static void main(String... arguments) {
    System.exit(
        commandLine(new Ozhera()).setCaseInsensitiveEnumValuesAllowed(true).execute(arguments));
  }

  @Override
  protected void validate() {
    sending = duration("--duration", duration);
    windowLength = duration("--window", window);
    if (rate < 1) {
      throw refused("--rate = " + rate + ": must be 1 or more");
    }
  }

  @Override
  protected OzheraInstallation install(Path home, Installation.Parts parts)
      throws IOException, InterruptedException {
    return new OzheraInstallation(
        home, parts, !noDocuments, windowLength, temporality == Temporality.CUMULATIVE);
  }

  @Override
  protected boolean run(OzheraInstallation installation, Path home, long seedInUse)
      throws Exception {
    long startNanos = System.nanoTime();
    long firstSecond = Instant.now().getEpochSecond();
    installation.start(http);
    out.printf("all programs are ready after %d s%n", since(startNanos).toSeconds());
    awaitScrapes(installation);
    out.printf("both Prometheus scrape both servers after %d s%n", since(startNanos).toSeconds());
    Comparison comparison;
    DocumentVerdict documents;
    long pages;
    try (PageReader reader =
        new PageReader(
            http,
            List.of(installation.page(0), installation.page(OzheraInstallation.SERVERS - 1)),
            READER_INTERVAL)) {
      Kill kill = send(installation, seedInUse);
      out.printf("all is sent: %d spans%n", oracle.spans());
      comparison = compare(installation, firstSecond);
      documents = compareDocuments(installation);
      pages = reader.pages();
      kill.tell(out, installation);
    }
    Results results = new Results(home);
    print(comparison, results);
    List<String> differences = new ArrayList<>(comparison.differences());
    differences.addAll(documents.differences());
    Files.write(home.resolve("differences.txt"), differences);
    differences.stream().limit(MOST_TOLD).forEach(line -> out.println("  " + line));
    boolean equal = comparison.isEqual() && documents.isEqual() && oracle.spans() > 0;
    Map<String, Object> pairs = new LinkedHashMap<>();
    pairs.put("temporality", temporality.name().toLowerCase(Locale.ROOT));
    pairs.put("seed", seedInUse);
    pairs.put("seconds", since(startNanos).toSeconds());
    pairs.put("window", window);
    pairs.put("pages_of_others", pages);
    pairs.put("killed", noKill ? 0 : 1);
    results.summary("queries", pairs);
    if (!equal) {
      out.printf("FAILED: logs are in %s, all differences in its differences.txt%n", home);
    }
    out.printf(
        "spans=%d series=%d differing=%d lost=%d doubled=%d documents=%d documents_missing=%d"
            + " documents_wrong=%d%n",
        oracle.spans(),
        comparison.series(),
        comparison.differing(),
        comparison.lost(),
        comparison.doubled(),
        noDocuments ? 0 : oracle.documents().size(),
        documents.missing(),
        documents.wrong() + documents.secrets());
    out.flush();
    return equal;
  }

  /**
   * Waits until all servers are scraped: a new scraper gets the newest window and later ones only.
   */
  private void awaitScrapes(OzheraInstallation installation)
      throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    for (URI uri : installation.prometheusUris()) {
      for (int server = 0; server < OzheraInstallation.SERVERS; server++) {
        PrometheusCounts counts = new PrometheusCounts(uri, temporality);
        while (Double.isNaN(counts.lastSuccess(installation.instance(server), Double.MAX_VALUE))) {
          if (since(startNanos).compareTo(READY_LIMIT) > 0) {
            throw new IOException(uri + " cannot scrape " + installation.instance(server));
          }
          Thread.sleep(LOOK.dividedBy(3));
        }
      }
    }
  }

  /** The kill of a server; milliseconds since 1970, or 0 if no server was killed. */
  private record Kill(int server, long millis) {
    /** Prints the time from the last scrape to the kill: deltas not yet marked may repeat. */
    void tell(PrintStream out, OzheraInstallation installation)
        throws IOException, InterruptedException {
      if (millis == 0) {
        return;
      }
      for (int i = 0; i < OzheraInstallation.SCRAPE_SECONDS.size(); i++) {
        double last =
            new PrometheusCounts(installation.prometheusUris().get(i), Temporality.DELTA)
                .lastSuccess(installation.instance(server), millis / 1e3);
        out.printf(
            Locale.ROOT,
            "%s was killed %.3f s after the scrape of %d s%n",
            installation.server(server).name(),
            millis / 1e3 - last,
            OzheraInstallation.SCRAPE_SECONDS.get(i));
      }
    }
  }

  /** Sends spans for the configured duration, and kills a server meanwhile. */
  private Kill send(OzheraInstallation installation, long seedInUse) throws Exception {
    SpanGenerator generator = new SpanGenerator(seedInUse);
    Random instants = new Random(seedInUse);
    Kill kill = new Kill(instants.nextInt(OzheraInstallation.SERVERS), 0);
    Program victim = installation.server(kill.server);
    long killNanos = (long) (sending.toNanos() * (0.3 + 0.4 * instants.nextDouble()));
    boolean started = false;
    try (TopicSender sender =
        new TopicSender(installation.nameServer(), OzheraInstallation.TOPIC, PARTITIONS)) {
      long startNanos = System.nanoTime();
      long toldNanos = startNanos;
      long ran;
      while ((ran = System.nanoTime() - startNanos) < sending.toNanos()) {
        long due = (long) (ran / 1e9 * rate);
        while (oracle.spans() < due) {
          Instant now = Instant.now();
          SpanGenerator.Generated one =
              generator.next(TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano());
          oracle.add(one.span());
          sender.send(one.application(), one.message());
        }
        if (!noKill
            && kill.millis == 0
            && ran > killNanos
            && (killAnyTime
                || temporality == Temporality.CUMULATIVE
                || sinceScrape(installation, kill.server) > UNSURE_SECONDS)) {
          kill = new Kill(kill.server, System.currentTimeMillis());
          victim.kill();
          out.printf("killed %s after %d s%n", victim.name(), ran / 1_000_000_000);
        }
        if (!started
            && kill.millis > 0
            && System.currentTimeMillis() > kill.millis + DOWN.toMillis()) {
          victim.start();
          started = true;
          out.printf("restarted %s%n", victim.name());
        }
        if (System.nanoTime() - toldNanos > PROGRESS.toNanos()) {
          toldNanos = System.nanoTime();
          out.printf("%d spans sent%n", oracle.spans());
        }
        Thread.sleep(TICK);
      }
      sender.flush();
    }
    if (!victim.isRunning()) {
      victim.start();
    }
    victim.awaitReady(http, READY_LIMIT);
    return kill;
  }

  /** Returns the seconds since the last scrape of a server by any Prometheus. */
  private double sinceScrape(OzheraInstallation installation, int server)
      throws IOException, InterruptedException {
    double shortest = Double.MAX_VALUE;
    double now = System.currentTimeMillis() / 1e3;
    for (URI uri : installation.prometheusUris()) {
      double last =
          new PrometheusCounts(uri, temporality).lastSuccess(installation.instance(server), now);
      shortest = Math.min(shortest, now - last);
    }
    return shortest;
  }

  /** Waits until the counts are equal and stable, or the differences are final. */
  private Comparison compare(OzheraInstallation installation, long firstSecond)
      throws IOException, InterruptedException {
    List<PrometheusCounts> all =
        installation.prometheusUris().stream()
            .map(uri -> new PrometheusCounts(uri, temporality))
            .toList();
    long deadlineNanos = System.nanoTime() + DRAIN_LIMIT.toNanos();
    long changedNanos = System.nanoTime();
    long toldNanos = System.nanoTime();
    double due = 0;
    for (Map.Entry<MetricSample, Double> sample : oracle.samples().entrySet()) {
      if (sample.getKey().name().equals(STATISTICS)) {
        due += sample.getValue() * all.size();
      }
    }
    Comparison comparison = null;
    double counted = 0;
    boolean settled = false;
    while (true) {
      Thread.sleep(LOOK);
      double now = counted(all, firstSecond);
      if (now != counted) {
        counted = now;
        changedNanos = System.nanoTime();
        settled = false;
      }
      Duration unchanged = since(changedNanos);
      // After a kill, repeats have arrived when the slowest Prometheus has scraped again.
      boolean quiet =
          noKill && counted == due
              || unchanged.toSeconds()
                  > OzheraInstallation.SCRAPE_SECONDS.getLast() + LOOK.toSeconds();
      if (quiet && !settled) {
        settled = true;
        comparison = compareNow(all, firstSecond);
      }
      boolean late = unchanged.compareTo(STILL) > 0 || System.nanoTime() > deadlineNanos;
      if (settled && comparison.isEqual() || late) {
        return settled ? comparison : compareNow(all, firstSecond);
      }
      if (since(toldNanos).compareTo(PROGRESS) > 0) {
        toldNanos = System.nanoTime();
        out.printf(
            Locale.ROOT,
            "draining: %.0f of %.0f spans counted, of both Prometheus together; %s%n",
            counted,
            due,
            comparison == null ? "not compared yet" : comparison.differing() + " differ");
      }
    }
  }

  /** Returns the spans in all Prometheus; a fast query. */
  private static double counted(List<PrometheusCounts> all, long firstSecond)
      throws IOException, InterruptedException {
    double spans = 0;
    for (PrometheusCounts prometheus : all) {
      for (double one : prometheus.totals(STATISTICS, sinceSecond(firstSecond)).values()) {
        spans += one;
      }
    }
    return spans;
  }

  private static Duration sinceSecond(long second) {
    return Duration.ofSeconds(Instant.now().getEpochSecond() - second + 60);
  }

  private Comparison compareNow(List<PrometheusCounts> all, long firstSecond)
      throws IOException, InterruptedException {
    long first = firstSecond + phase(all, firstSecond);
    return Comparison.of(
        oracle,
        all,
        temporality,
        sinceSecond(firstSecond),
        first,
        Instant.now().getEpochSecond() + PrometheusCounts.STEP_SECONDS);
  }

  /**
   * Returns the offset of the charts' points, in seconds, that keeps samples away from the edge
   * between two points. Prometheus before 3.0 counts a sample at the edge in both.
   */
  private static long phase(List<PrometheusCounts> all, long firstSecond)
      throws IOException, InterruptedException {
    List<Double> scrapes = new ArrayList<>();
    for (PrometheusCounts prometheus : all) {
      scrapes.addAll(prometheus.lastScrapes().values());
    }
    int shortest = OzheraInstallation.SCRAPE_SECONDS.getFirst();
    long best = 0;
    double bestDistance = -1;
    for (int offset = 0; offset < PrometheusCounts.STEP_SECONDS; offset++) {
      long point = firstSecond + offset;
      double distance =
          scrapes.stream()
              .mapToDouble(scrape -> {
                double after = (point - scrape) % shortest;
                double positive = after < 0 ? after + shortest : after;
                return Math.min(positive, shortest - positive);
              })
              .min()
              .orElse(0);
      if (distance > bestDistance) {
        bestDistance = distance;
        best = offset;
      }
    }
    return best;
  }

  private DocumentVerdict compareDocuments(OzheraInstallation installation)
      throws IOException, InterruptedException {
    if (noDocuments) {
      return new DocumentVerdict(0, 0, 0, List.of());
    }
    IndexedDocuments index =
        new IndexedDocuments(
            installation.elasticsearchUri(), OzheraInstallation.INDEX_PREFIX + "*", http);
    long startNanos = System.nanoTime();
    DocumentVerdict verdict = DocumentVerdict.of(oracle.documents(), DocumentVerdict.read(index));
    while (!verdict.isEqual() && since(startNanos).compareTo(DOCUMENTS_LIMIT) < 0) {
      Thread.sleep(LOOK);
      verdict = DocumentVerdict.of(oracle.documents(), DocumentVerdict.read(index));
    }
    return verdict;
  }

  private static void print(Comparison comparison, Results results) {
    StringBuilder columns = new StringBuilder("query values truth");
    OzheraInstallation.SCRAPE_SECONDS.forEach(
        seconds -> columns.append(" prometheus_").append(seconds).append("s"));
    results.columns(columns + " differing");
    for (Comparison.Row row : comparison.rows()) {
      if (!row.what().endsWith("_bucket")) {
        List<Object> values = new ArrayList<>(List.of(row.what(), row.answers(), row.truth()));
        values.addAll(row.found());
        values.add(row.differing());
        results.row(values.toArray());
      }
    }
  }
}
