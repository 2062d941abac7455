package org.traceetl.server.ozhera.delta;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.traceetl.server.ozhera.delta.DeltaWindows.STRIDE;

import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.traceetl.common.Clocks;
import org.traceetl.server.ozhera.OzheraConfig;
import org.traceetl.server.ozhera.SeriesLayout;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.window.QueueId;

/**
 * Two servers that hand queues to each other, and scrapers that come when they like and whose
 * answers fail now and then: each scraper's sums are those of all windows, to the last span.
 */
class DeltaPagesPropertyTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration WINDOW = Duration.ofSeconds(15);
  private static final int STEPS = 120;
  private static final int SERIES = 6;
  private static final List<QueueId> QUEUES =
      List.of(new QueueId("a", 0), new QueueId("a", 1), new QueueId("b", 0));
  private static final List<String> SCRAPERS = List.of("x", "y", "10.0.0.1/z");
  private static final String MESSAGES =
      "t_trace_statistics_span_count_total{application=\"shop\"}";
  private static final String BUCKET =
      "_bucket{methodName=\"m%d\",application=\"shop\",serverEnv=\"e\",le=\"%s\"}";

  @Property(tries = 40)
  void everyScraperGetsEveryWindowOnce(@ForAll long seed) throws Exception {
    try (var fleet = new Fleet(seed)) {
      fleet.run(false);
      for (String scraper : SCRAPERS) {
        assertThat(comparable(fleet.sums.get(scraper)))
            .as("seed %d, scraper %s", seed, scraper)
            .isEqualTo(comparable(fleet.truth));
        assertThat(fleet.missed(scraper)).isZero();
      }
    }
  }

  /**
   * With silence for longer than journals are read back and scrapers remembered, and servers of
   * another schema: what cannot be given is missed and counted, and nothing is given twice.
   */
  @Property(tries = 40)
  void whatIsNotGivenIsCountedAsMissed(@ForAll long seed) throws Exception {
    try (var fleet = new Fleet(seed)) {
      fleet.run(true);
      BigDecimal messages = fleet.truth.get(MESSAGES);
      for (String scraper : SCRAPERS) {
        Map<String, BigDecimal> given = fleet.sums.get(scraper);
        assertThat(given.get(MESSAGES).longValueExact() + fleet.missed(scraper))
            .as("seed %d, scraper %s", seed, scraper)
            .isEqualTo(messages.longValueExact());
        given.forEach(
            (key, sum) -> assertThat(sum).as(key).isLessThanOrEqualTo(fleet.truth.get(key)));
      }
    }
  }

  /** What an answer had that was not marked when its server ended may come twice. */
  @Property(tries = 40)
  void nothingIsLostWhenServersAreKilled(@ForAll long seed) throws Exception {
    try (var fleet = new Fleet(seed, true)) {
      fleet.run(false);
      for (String scraper : SCRAPERS) {
        Map<String, BigDecimal> given = fleet.sums.get(scraper);
        fleet.truth.forEach((key, sum) ->
            assertThat(given.getOrDefault(key, BigDecimal.ZERO))
                .as("seed %d, scraper %s, %s", seed, scraper, key)
                .isGreaterThanOrEqualTo(sum));
        assertThat(fleet.missed(scraper)).isZero();
      }
    }
  }

  /** Equal numbers as equal texts; what is 0 is on no page. */
  private static Map<String, String> comparable(Map<String, BigDecimal> numbers) {
    Map<String, String> texts = new TreeMap<>();
    numbers.forEach((key, number) -> {
      if (number.signum() != 0) {
        texts.put(key, number.stripTrailingZeros().toPlainString());
      }
    });
    return texts;
  }

  /** One try: servers, what they own, and what should come out. */
  private static final class Fleet implements AutoCloseable {
    private final AtomicLong nanos = new AtomicLong();
    private final MemoryPositions positions = new MemoryPositions();
    private final List<DeltaPages> servers = new ArrayList<>();

    /** Whether servers are killed; then time is that of the machine. */
    private final boolean kills;

    private final Map<QueueId, Integer> owners = new HashMap<>();
    private final Map<QueueId, Long> ends = new HashMap<>();

    /** By queue: which method a series number stands for; absent for none. */
    private final Map<QueueId, Map<Integer, Integer>> live = new HashMap<>();

    private final Map<String, BigDecimal> truth = new TreeMap<>();
    private final Map<String, Map<String, BigDecimal>> sums = new HashMap<>();
    private final List<Map<String, Answer>> open = List.of(new HashMap<>(), new HashMap<>());
    private final SplittableRandom random;
    private long schema;

    /** By server: what it counts as missed now. */
    private final List<Map<String, Long>> counted = List.of(new HashMap<>(), new HashMap<>());

    /** Counted by servers that have forgotten the scraper since. */
    private final Map<String, Long> forgotten = new HashMap<>();

    Fleet(long seed) {
      this(seed, false);
    }

    Fleet(long seed, boolean kills) {
      this.kills = kills;
      random = new SplittableRandom(seed);
      servers.add(server());
      servers.add(server());
    }

    private DeltaPages server() {
      DeltaPages server =
          new DeltaPages(
              new DeltaOptions(
                  new OzheraConfig("t", null, null, SCRAPERS, null),
                  STRIDE,
                  "group",
                  WINDOW,
                  Long.MAX_VALUE,
                  Duration.ofMinutes(5)),
              positions,
              nanos -> {},
              new Clocks(kills ? System::nanoTime : nanos::get, this::now));
      server.start();
      return server;
    }

    private Instant now() {
      return DeltaWindows.SEALED.plusNanos(nanos.get());
    }

    private void passes(Duration time) throws Exception {
      // What came before belongs to the time before, and is read before anyone is forgotten.
      readMissed();
      nanos.addAndGet(time.toNanos());
      readMissed();
    }

    private void readMissed() throws Exception {
      for (int server = 0; server < 2; server++) {
        servers.get(server).await(LONG);
        Map<String, Long> missed = servers.get(server).totals().missedMessages();
        Map<String, Long> before = counted.get(server);
        before.forEach((scraper, messages) -> {
          if (!missed.containsKey(scraper)) {
            forgotten.merge(scraper, messages, Long::sum);
          }
        });
        before.clear();
        before.putAll(missed);
      }
    }

    long missed(String scraper) {
      return forgotten.getOrDefault(scraper, 0L)
          + counted.getFirst().getOrDefault(scraper, 0L)
          + counted.getLast().getOrDefault(scraper, 0L);
    }

    void run(boolean rough) throws Exception {
      for (QueueId queue : QUEUES) {
        owners.put(queue, random.nextInt(2));
        ends.put(queue, 0L);
        live.put(queue, new HashMap<>());
        own(queue);
      }
      // A window takes longer to be sealed than the places take to be told.
      await().until(() -> positions.marks().size() == QUEUES.size() * SCRAPERS.size());
      SCRAPERS.forEach(scraper -> sums.put(scraper, new TreeMap<>()));
      if (rough) {
        // What is missed is not counted from a place before the first window.
        for (QueueId queue : QUEUES) {
          window(queue);
        }
        for (String scraper : SCRAPERS) {
          scrapeAll(scraper);
        }
      }
      for (int step = 0; step < STEPS; step++) {
        step();
        if (kills && random.nextInt(20) == 0) {
          kill(random.nextInt(2));
        }
        if (rough && random.nextInt(10) == 0) {
          roughStep();
        }
      }
      for (DeltaPages server : servers) {
        do {
          server.await(LONG);
        } while (server.totals().hidden() > 0);
      }
      for (String scraper : SCRAPERS) {
        for (int server = 0; server < 2; server++) {
          end(scraper, server, true);
        }
        scrapeAll(scraper);
      }
      readMissed();
    }

    /** Ends a server at once; the other one shows its queues only after the lease. */
    private void kill(int server) throws Exception {
      open.get(server).clear();
      servers.get(server).close();
      servers.set(server, server());
      for (QueueId queue : QUEUES) {
        if (owners.get(queue) == server) {
          owners.put(queue, 1 - server);
        } else if (random.nextBoolean()) {
          // Another worker of the same process.
          servers.get(1 - server).released(queue);
        } else {
          continue;
        }
        DeltaPages owner = servers.get(owners.get(queue));
        owner.restored(
            queue,
            positions.image(queue, STRIDE),
            System.nanoTime() + Duration.ofMillis(random.nextInt(40)).toNanos());
        owner.shownUntil(queue, System.nanoTime() + Duration.ofHours(1).toNanos());
      }
    }

    private void roughStep() throws Exception {
      switch (random.nextInt(6)) {
        case 0 -> passes(Duration.ofHours(2));
        case 1 -> upgrade();
        default -> passes(Duration.ofMinutes(1 + random.nextInt(10)));
      }
    }

    /** Series of another schema do not go on. */
    private void upgrade() {
      QUEUES.forEach(queue -> servers.get(owners.get(queue)).released(queue));
      schema++;
      positions.setSchema(schema);
      live.values().forEach(Map::clear);
      QUEUES.forEach(this::own);
    }

    private void step() throws Exception {
      String scraper = SCRAPERS.get(random.nextInt(SCRAPERS.size()));
      int server = random.nextInt(2);
      switch (random.nextInt(10)) {
        case 0, 1, 2, 3 -> window(QUEUES.get(random.nextInt(QUEUES.size())));
        case 4, 5 -> begin(scraper, server);
        case 6, 7 -> end(scraper, server, random.nextInt(4) > 0);
        case 8 -> {
          end(scraper, server, true);
          begin(scraper, server);
          end(scraper, server, true);
        }
        default -> move(QUEUES.get(random.nextInt(QUEUES.size())));
      }
    }

    private void own(QueueId queue) {
      DeltaPages owner = servers.get(owners.get(queue));
      long nowNanos = kills ? System.nanoTime() : 0;
      owner.restored(queue, positions.image(queue, STRIDE), nowNanos);
      owner.shownUntil(queue, nowNanos + Duration.ofDays(1_000).toNanos());
    }

    private void move(QueueId queue) {
      servers.get(owners.get(queue)).released(queue);
      owners.put(queue, 1 - owners.get(queue));
      own(queue);
    }

    private void window(QueueId queue) {
      long from = ends.get(queue);
      long to = from + 1 + random.nextInt(20);
      ends.put(queue, to);
      DeltaWindows window = DeltaWindows.of(queue, from, to).at(now()).schema(schema);
      window.books("shop", to - from + 2, 2);
      add(truth, MESSAGES, to - from);
      Map<Integer, Integer> series = live.get(queue);
      List<Integer> evicted = new ArrayList<>();
      for (int number = 0; number < SERIES; number++) {
        if (random.nextInt(3) == 0) {
          int outcome = number % 3;
          if (!series.containsKey(number)) {
            series.put(number, random.nextInt(2));
            window.create(
                number,
                SpanType.HTTP_SERVER,
                outcome,
                "shop",
                "m" + series.get(number),
                null,
                "e",
                null,
                null,
                null,
                outcome == SeriesLayout.FAILED ? "502" : null);
          }
          row(window, number, outcome, series.get(number));
        }
        if (series.containsKey(number) && random.nextInt(10) == 0) {
          evicted.add(number);
        }
      }
      evicted.forEach(number -> {
        series.remove(number);
        window.evict(number);
      });
      var sealed = window.seal();
      positions.keep(sealed);
      servers.get(owners.get(queue)).window(sealed);
    }

    private void row(DeltaWindows window, int number, int outcome, int method) {
      long fast = random.nextInt(5);
      long slow = random.nextInt(5);
      long spans = fast + slow + 1;
      long nanos = random.nextLong(1L << random.nextInt(1, 62));
      window.row(number, nanos, fast, 1, slow);
      String labels = "{methodName=\"m" + method + "\",application=\"shop\",serverEnv=\"e\"}";
      add(truth, "t_hera_aopTotalMethodCount_total" + labels, spans);
      if (outcome == SeriesLayout.FAILED) {
        add(truth, "t_hera_httpError_total" + labels.replace("}", ",errorCode=\"502\"}"), spans);
      } else {
        add(truth, "t_hera_aopSuccessMethodCount_total" + labels, spans);
      }
      if (outcome == SeriesLayout.SLOW) {
        add(truth, "t_hera_httpSlowQuery_total" + labels, spans);
      }
      add(truth, bucket(method, "50.0"), fast);
      add(truth, bucket(method, "100.0"), fast + 1);
      add(truth, bucket(method, "5000.0"), spans);
      BigDecimal millis = BigDecimal.valueOf(nanos, 6);
      truth.merge("t_hera_aopMethodTimeCount_sum" + labels, millis, BigDecimal::add);
      String unnamed = "{application=\"shop\",serverEnv=\"e\"}";
      add(truth, "t_hera_aopMethodTimeCount_without_methodName_count" + unnamed, spans);
    }

    private static String bucket(int method, String le) {
      return "t_hera_aopMethodTimeCount" + BUCKET.formatted(method, le);
    }

    private static void add(Map<String, BigDecimal> to, String key, long value) {
      to.merge(key, BigDecimal.valueOf(value), BigDecimal::add);
    }

    private void begin(String scraper, int server) throws Exception {
      if (!open.get(server).containsKey(scraper)) {
        open.get(server).put(scraper, servers.get(server).take(scraper, "here", LONG));
      }
    }

    private void end(String scraper, int server, boolean well) throws Exception {
      Answer answer = open.get(server).remove(scraper);
      if (answer == null) {
        return;
      }
      if (!well && random.nextBoolean()) {
        servers.get(server).settle(answer, random.nextBoolean());
        return;
      }
      boolean permitted = servers.get(server).commit(answer);
      servers.get(server).settle(answer, well);
      if (permitted && well) {
        var page = new ByteArrayOutputStream();
        answer.writeTo(page);
        page.toString(UTF_8).lines().forEach(line -> addLine(scraper, line));
      }
    }

    private void addLine(String scraper, String line) {
      int space = line.lastIndexOf(' ');
      String key = line.substring(0, Math.max(0, space));
      if (truth.containsKey(key)) {
        sums.get(scraper).merge(key, new BigDecimal(line.substring(space + 1)), BigDecimal::add);
      }
    }

    private void scrapeAll(String scraper) throws Exception {
      for (int server = 0; server < 2; server++) {
        begin(scraper, server);
        end(scraper, server, true);
      }
    }

    @Override
    public void close() {
      servers.forEach(DeltaPages::close);
    }
  }
}
