package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.proto.thrift.ozhera.TKind;
import org.traceetl.proto.thrift.ozhera.TStatus;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.TemplatesConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.format.MalformedRecordException;
import org.traceetl.server.journal.format.RecordWriter;
import org.traceetl.server.journal.format.WindowFormat;
import org.traceetl.server.ozhera.OzheraConfig;
import org.traceetl.server.ozhera.OzheraProfile;
import org.traceetl.server.ozhera.OzheraRules;
import org.traceetl.server.ozhera.OzheraRulesFile;
import org.traceetl.server.ozhera.OzheraSeries;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.series.Cardinality;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/** The series and documents of spans in profile ozhera. */
class OzheraSpansTest {
  private static final int INTERNAL = 1;
  private static final int SERVER = 2;
  private static final int CLIENT = 3;
  private static final long MILLI = 1_000_000;

  @TempDir private Path directory;

  private OzheraRules rules(String yaml) throws IOException {
    return OzheraRulesFile.read(Files.writeString(directory.resolve("rules.yaml"), yaml));
  }

  private static Aggregation aggregation(OzheraRules rules) {
    return aggregation(rules, SeriesConfig.defaults().maxPerApplication());
  }

  private static Aggregation aggregation(OzheraRules rules, int maxPerApplication) {
    return Aggregation.builder(() -> 1)
        .series(
            new SeriesConfig(
                OzheraConfig.dimensions(),
                null,
                null,
                maxPerApplication,
                null,
                null,
                null,
                null,
                new TemplatesConfig(false, null)))
        .histogram(histogram())
        .documents(new DocumentsConfig(null, null, null, null, null, 0))
        .unit(MetricsConfig.Unit.MILLISECONDS)
        .messages(Messages.of("any"))
        .profile(new OzheraSeries(() -> rules))
        .build();
  }

  static SeriesConfig series() {
    return SeriesConfig.defaults().withDimensions(OzheraConfig.dimensions());
  }

  static HistogramConfig histogram() {
    return new OzheraProfile().histogram();
  }

  static SealedWindow window(byte[]... messages) {
    return window(OzheraRules.defaults(), messages);
  }

  private static SealedWindow window(OzheraRules rules, byte[]... messages) {
    Aggregation aggregation = aggregation(rules);
    QueueAggregator aggregator = aggregator(aggregation);
    for (byte[] message : messages) {
      aggregator.accept(message, 1_000);
    }
    return aggregator.swap(messages.length, 1_000).seal();
  }

  private static QueueAggregator aggregator(Aggregation aggregation) {
    return aggregation.newAggregator(
        new QueueId("b", 0), aggregation.newDecoder(), new SpanPipelineMetrics());
  }

  /** {@code TYPE OUTCOME name|serverIp|serverEnv|serverEnvId|target|detail|errorCode spans}. */
  static List<String> series(SealedWindow window) {
    List<String> lines = new ArrayList<>();
    for (int row = 0; row < window.rows(); row++) {
      int number = window.series()[row];
      SeriesDefinition definition =
          window.created().stream().filter(d -> d.series() == number).findFirst().orElseThrow();
      List<String> values = definition.values();
      long spans = 0;
      for (int bucket = 0; bucket < window.stride(); bucket++) {
        spans += window.counts()[row * window.stride() + bucket];
      }
      lines.add(
          SpanType.of(Integer.parseInt(values.get(SeriesDefinition.SPAN_KIND)))
              + " "
              + List.of("FAST", "SLOW", "FAILED")
                  .get(Integer.parseInt(values.get(SeriesDefinition.STATUS_CODE)))
              + " "
              + values.get(SeriesDefinition.SPAN_NAME)
              + "|"
              + values.subList(SeriesDefinition.FIXED_DIMENSIONS, values.size()).stream()
                  .map(value -> value == null ? "" : value)
                  .collect(Collectors.joining("|"))
              + " "
              + spans);
    }
    Collections.sort(lines);
    return lines;
  }

  private static String only(Consumer<BatchMessage> spans) {
    List<String> series = series(window(message(spans)));
    assertThat(series).hasSizeLessThan(2);
    return series.isEmpty() ? "none" : series.getFirst();
  }

  private static byte[] message(Consumer<BatchMessage> spans) {
    BatchMessage batch = batch();
    spans.accept(batch);
    return batch.message(0);
  }

  private static BatchMessage batch() {
    return new BatchMessage("my-shop")
        .resource("service.env", "prod")
        .resource("service.env.id", "7")
        .resource("ip", "10.1.2.3");
  }

  private static BatchMessage span(
      BatchMessage batch, String name, int kind, String... attributes) {
    batch.span(name, kind, BatchMessage.UNSET, 20 * MILLI, 0);
    for (int i = 0; i < attributes.length; i += 2) {
      batch.attribute(attributes[i], attributes[i + 1]);
    }
    return batch;
  }

  @Test
  void cardinalityReportNamesTheLabelsOfTheSeries() {
    List<Cardinality> crowded = new ArrayList<>();
    Aggregation aggregation = aggregation(OzheraRules.defaults(), 2);
    QueueAggregator aggregator =
        aggregation.newAggregator(
            new QueueId("b", 0),
            aggregation.newDecoder(),
            new SpanPipelineMetrics() {
              @Override
              public void crowded(QueueId queue, Cardinality cardinality) {
                crowded.add(cardinality);
              }
            });
    aggregator.accept(
        message(batch -> {
          for (String method : List.of("/a", "/b", "/c")) {
            span(batch, method, SERVER, "http.method", "GET");
          }
        }),
        1_000);
    aggregator.swap(1, 100_000).seal();

    assertThat(crowded)
        .singleElement()
        .satisfies(c ->
            assertThat(c.dimensions())
                .extracting(Cardinality.Dimension::name)
                .startsWith("name", "type", "outcome", "serverIp"));
    assertThat(crowded.getFirst().culprit().name()).isEqualTo("name");
  }

  /** The same from a batch and from OzHera's message. */
  private static String only(String name, TKind kind, String... attributes) {
    String series = only(batch -> span(batch, name, kind.getValue(), attributes));
    byte[] message =
        OzheraMessage.of(
            "my-shop",
            "10.1.2.3",
            new String[] {"service.env", "prod", "service.env.id", "7"},
            name,
            kind,
            TStatus.UNSET,
            20 * MILLI,
            attributes);
    List<String> ofMessage = series(window(message));
    assertThat(ofMessage.isEmpty() ? List.of("none") : ofMessage).containsExactly(series);
    return series;
  }

  /** Splits {@code key=value; key=value}. */
  private static String[] split(String attributes) {
    return Stream.of(attributes.split("; "))
        .flatMap(one -> Stream.of(one.split("=", 2)))
        .toArray(String[]::new);
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = "->",
      quoteCharacter = '`',
      textBlock =
          """
          GET /a -> SERVER -> http.method=GET -> HTTP_SERVER FAST GET /a|10.1.2.3|prod|7||| 1
          GET -> CLIENT -> http.method=GET; http.status_code=200 -> HTTP_CLIENT FAST GET|10.1.2.3|prod|7||| 1
          x -> CLIENT -> rpc.system=dubbo; rpc.service=com.Shop; rpc.method=buy -> DUBBO_CONSUMER FAST buy|10.1.2.3|prod|7|com.Shop|| 1
          x -> SERVER -> rpc.system=dubbo; rpc.service=com.Shop; rpc.method=buy -> DUBBO_PROVIDER FAST buy|10.1.2.3|prod|7|com.Shop|| 1
          Shop/buy -> CLIENT -> rpc.system=grpc; rpc.service=Shop -> GRPC_CLIENT FAST Shop/buy|10.1.2.3|prod|7|Shop|| 1
          Shop/buy -> SERVER -> rpc.system=grpc; rpc.service=Shop -> GRPC_SERVER FAST Shop/buy|10.1.2.3|prod|7|Shop|| 1
          GET -> CLIENT -> db.system=redis; db.statement=HMGET key ?; net.peer.name=cache; net.peer.port=6379 -> REDIS FAST HMGET|10.1.2.3|prod|7|cache|6379| 1
          SELECT shop -> CLIENT -> db.system=mysql; db.connection_string=mysql://db:3306; db.name=shop; db.operation=SELECT; db.statement=select * from a where b = ? -> MYSQL FAST SELECT|10.1.2.3|prod|7|mysql://db:3306/shop|select * from a where b = ?| 1
          find -> INTERNAL -> db.system=mongodb; db.connection_string=mongodb://m:27017; db.name=shop; db.operation=find; db.statement={"find": "a"} -> MONGODB FAST find|10.1.2.3|prod|7|mongodb://m:27017|{"find": "a"}| 1
          x send -> PRODUCER -> messaging.system=rocketmq; messaging.destination=orders -> ROCKETMQ_PRODUCER FAST orders|10.1.2.3|prod|7||| 1
          x process -> CONSUMER -> messaging.system=rocketmq; messaging.destination=orders -> ROCKETMQ_CONSUMER FAST orders|10.1.2.3|prod|7||| 1
          Shop.total -> INTERNAL -> hera.annotations=true -> CUSTOM_METHOD FAST Shop.total|10.1.2.3|prod|7||| 1
          """)
  void spanOfEachKindHasTheSeriesOfOzhera(
      String name, TKind kind, String attributes, String series) {
    assertThat(only(name, kind, split(attributes))).isEqualTo(series);
  }

  @Test
  void spanOfNoTypeIsReceivedAndFiltered() {
    SealedWindow window =
        window(
            message(batch -> {
              span(batch, "a", SERVER);
              span(batch, "b", INTERNAL, "http.method", "GET");
              span(batch, "c", SERVER, "rpc.system", "thrift");
              span(batch, "d", INTERNAL, "hera.annotations", "false");
              span(batch, "e", CLIENT, "messaging.system", "rocketmq");
              span(batch, "", SERVER, "http.method", "GET");
              span(batch, "f", SERVER, "http.method", "GET");
            }));

    assertThat(series(window)).containsExactly("HTTP_SERVER FAST f|10.1.2.3|prod|7||| 1");
    Books books = window.books().getFirst();
    assertThat(books.application()).isEqualTo("my-shop");
    assertThat(books.received()).isEqualTo(7);
    assertThat(books.recorded()).isEqualTo(1);
    assertThat(books.filtered()).isEqualTo(6);
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = "->",
      textBlock =
          """
          CLIENT -> rpc.system=dubbo; db.system=redis -> REDIS FAST n|
          CLIENT -> db.system=redis; http.method=GET -> HTTP_CLIENT FAST n|
          CLIENT -> http.method=GET; hera.annotations=TRUE -> CUSTOM_METHOD FAST n|
          CLIENT -> db.system=redis; net.peer.name=host; net.peer.ip=10.0.0.1 -> REDIS FAST n|10.1.2.3|prod|7|10.0.0.1|| 1
          SERVER -> http.method=GET; span.kind=client -> HTTP_CLIENT
          SERVER -> http.method=GET; span.kind=internal -> none
          SERVER -> http.method=GET; rpc.method=m -> HTTP_SERVER FAST m|
          """)
  void lastAttributeDecidesOnTheSeries(TKind kind, String attributes, String begin) {
    assertThat(only("n", kind, split(attributes))).startsWith(begin);
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = "->",
      textBlock =
          """
          GET /a -> SERVER -> http.request.method=GET -> HTTP_SERVER FAST GET /a|
          SELECT shop -> CLIENT -> db.system.name=mysql; db.namespace=shop; db.operation.name=SELECT; db.query.text=select 1 -> MYSQL FAST SELECT|10.1.2.3|prod|7|/shop|select 1| 1
          GET -> CLIENT -> db.system.name=redis; server.address=cache; server.port=6379 -> REDIS FAST GET|10.1.2.3|prod|7|cache|6379| 1
          send -> PRODUCER -> messaging.system=rocketmq; messaging.destination.name=orders -> ROCKETMQ_PRODUCER FAST orders|
          a -> CLIENT -> rpc.system=apache_dubbo -> DUBBO_CONSUMER
          """)
  void currentAttributeNamesHaveTheSameSeries(
      String name, TKind kind, String attributes, String begin) {
    assertThat(only(name, kind, split(attributes))).startsWith(begin);
  }

  @Test
  void attributeOrStatusMakesASpanFailed() {
    assertThat(only("a", TKind.SERVER, "http.method", "GET", "error", "true"))
        .isEqualTo("HTTP_SERVER FAILED a|10.1.2.3|prod|7|||500 1");
    assertThat(
            only(
                "a",
                TKind.SERVER,
                "http.method",
                "GET",
                "error",
                "True",
                "http.status_code",
                "404"))
        .isEqualTo("HTTP_SERVER FAILED a|10.1.2.3|prod|7|||404 1");
    assertThat(
            only(batch ->
                batch.span("a", 2, BatchMessage.ERROR, 0, 0).attribute("http.method", "GET")))
        .startsWith("HTTP_SERVER FAILED");
    assertThat(
            only(batch ->
                batch
                    .span("a", 2, BatchMessage.ERROR, 0, 0)
                    .attribute("http.method", "GET")
                    .attribute("error", "false")))
        .startsWith("HTTP_SERVER FAST");
  }

  @Test
  void spanIsSlowAboveTheThresholdInMicroseconds() {
    String[] http = {"http.method", "GET"};
    assertThat(outcome(1_000 * MILLI, http)).isEqualTo("FAST");
    assertThat(outcome(1_000 * MILLI + 999, http)).isEqualTo("FAST");
    assertThat(outcome(1_000 * MILLI + 1_000, http)).isEqualTo("SLOW");
    assertThat(outcome(1_000 * MILLI + 1_000, "http.method", "GET", "error", "true"))
        .isEqualTo("FAILED");
    assertThat(outcome(60_000 * MILLI, "db.system", "redis")).isEqualTo("FAST");
  }

  private static String outcome(long nanos, String... attributes) {
    return only(
            batch -> {
              batch.span("a", SERVER, BatchMessage.UNSET, nanos, 0);
              for (int i = 0; i < attributes.length; i += 2) {
                batch.attribute(attributes[i], attributes[i + 1]);
              }
            })
        .split(" ")[1];
  }

  @Test
  void eachTypeHasItsBucketsAndWholeMicroseconds() {
    SealedWindow window =
        window(
            message(batch -> {
              batch.span("a", SERVER, 0, 50 * MILLI + 999, 0).attribute("http.method", "GET");
              batch.span("a", CLIENT, 0, 100_999, 0).attribute("db.system", "redis");
              batch.span("a", CLIENT, 0, 2_000 * MILLI, 0).attribute("db.system", "redis");
            }));

    assertThat(window.stride()).isEqualTo(14);
    List<String> series = series(window);
    assertThat(series).hasSize(2);
    long[] http = counts(window, "1");
    long[] redis = counts(window, "7");
    assertThat(http[0]).isEqualTo(1);
    assertThat(redis[0]).isEqualTo(1);
    assertThat(redis[7]).isEqualTo(1);
    assertThat(window.durationNanos()).contains(50 * MILLI, 2_000 * MILLI + 100_000);
  }

  private static long[] counts(SealedWindow window, String kind) {
    for (int row = 0; row < window.rows(); row++) {
      int number = window.series()[row];
      if (window.created().stream()
          .anyMatch(d ->
              d.series() == number && d.values().get(SeriesDefinition.SPAN_KIND).equals(kind))) {
        return Arrays.copyOfRange(
            window.counts(), row * window.stride(), (row + 1) * window.stride());
      }
    }
    throw new AssertionError("no series of kind " + kind);
  }

  @Test
  void eachSpanOfAGroupIsSlowByItself() {
    SealedWindow window =
        window(
            message(batch -> {
              for (int i = 0; i < 10; i++) {
                batch.grouped("a", SERVER, 0, i % 3 == 0 ? 2_000 * MILLI : MILLI + i, 0);
                batch.attribute("http.method", "GET");
              }
              batch.grouped("b", SERVER, 0, 3_000 * MILLI, 0).attribute("http.method", "GET");
              batch.grouped("c", SERVER, 2, 3_000 * MILLI, 0).attribute("http.method", "GET");
              batch.grouped("d", SERVER, 0, 1, 0);
            }));

    assertThat(series(window))
        .containsExactly(
            "HTTP_SERVER FAILED c|10.1.2.3|prod|7|||500 1",
            "HTTP_SERVER FAST a|10.1.2.3|prod|7||| 6",
            "HTTP_SERVER SLOW a|10.1.2.3|prod|7||| 4",
            "HTTP_SERVER SLOW b|10.1.2.3|prod|7||| 1");
    assertThat(window.books().getFirst().received()).isEqualTo(13);
    assertThat(window.books().getFirst().filtered()).isEqualTo(1);
    assertThat(window.durationNanos()).contains(6 * MILLI, 8_000 * MILLI);
  }

  @Test
  void groupsByDemandMayLackAnyAttribute() {
    List<Integer> notSent = new ArrayList<>();
    Aggregation aggregation = aggregation(OzheraRules.defaults());
    QueueAggregator aggregator =
        aggregation.newAggregator(
            new QueueId("b", 0),
            aggregation.newDecoder(),
            new SpanPipelineMetrics() {
              @Override
              public void notSent(int dimensions, int documents) {
                notSent.addAll(List.of(dimensions, documents));
              }
            });
    byte[] message =
        message(batch -> {
          batch.demand(7, "http.method").span("whole", SERVER, 0, 3_000 * MILLI, 0);
          batch.grouped("a", SERVER, 0, 2_000 * MILLI, 0).attribute("http.method", "GET");
          batch.grouped("a", SERVER, 0, MILLI, 0).attribute("http.method", "GET");
          batch.grouped("c", SERVER, 2, 3_000 * MILLI, 0).attribute("http.method", "GET");
          batch.grouped("left out", SERVER, 0, 3_000 * MILLI, 0);
        });
    aggregator.accept(message, 1_000);

    assertThat(notSent).as("spans, slow ones").containsExactly(3, 1);
  }

  @Test
  void missingAttributesHaveTheDefaultsOfOzhera() {
    byte[] message =
        new BatchMessage("bare")
            .resource("host.ip", "[\"10.9.9.9\",\"fe80::1\"]")
            .span("a", SERVER, 0, 1, 0)
            .attribute("http.method", "GET")
            .message(0);

    assertThat(series(window(message)))
        .containsExactly("HTTP_SERVER FAST a|10.9.9.9|default_env|||| 1");
    assertThat(only("n", TKind.CLIENT, "db.system", "mysql"))
        .isEqualTo("MYSQL FAST |10.1.2.3|prod|7|/|| 1");
    assertThat(only("n", TKind.PRODUCER, "messaging.system", "rocketmq"))
        .isEqualTo("ROCKETMQ_PRODUCER FAST |10.1.2.3|prod|7||| 1");
    assertThat(only("n", TKind.CLIENT, "rpc.system", "dubbo"))
        .isEqualTo("DUBBO_CONSUMER FAST n|10.1.2.3|prod|7||| 1");
    assertThat(
            series(
                window(
                    new BatchMessage("").span("a", 1).attribute("http.method", "GET").message(0))))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = "->",
      textBlock =
          """
          CLIENT -> rpc.system=dubbo; rpc.service=S; rpc.method=m -> type=dubbo_consumer; url=S/m; errorCode=500; dataSource=null
          CLIENT -> db.system=redis; db.statement=AUTH s3cret; net.peer.name=cache; net.peer.port=6379 -> url=AUTH; dataSource=cache:6379
          PRODUCER -> messaging.system=rocketmq; messaging.destination=orders -> type=rocketmq_producer; url=n
          """)
  void documentHasTheFieldsOfOzhera(TKind kind, String attributes, String fields) {
    Map<String, String> document = document(kind, split(attributes));
    String[] expected = split(fields);
    for (int i = 0; i < expected.length; i += 2) {
      assertThat(String.valueOf(document.get(expected[i]))).isEqualTo(expected[i + 1]);
    }
  }

  @Test
  void documentHasNoFieldBesidesThoseOfOzhera() {
    assertThat(document(TKind.SERVER, "http.method", "GET", "http.status_code", "503"))
        .isEqualTo(
            Map.ofEntries(
                Map.entry("type", "http"),
                Map.entry("url", "n"),
                Map.entry("errorCode", "503"),
                Map.entry("host", "10.1.2.3"),
                Map.entry("serverEnv", "prod")));
  }

  @Test
  void documentHasShortenedCommandsAndStatementsWithoutPasswords() {
    String command = "c".repeat(150);
    assertThat(document(TKind.CLIENT, "db.system", "redis", "db.statement", command + "? key"))
        .containsEntry("url", command);
    String statement = "select '" + "x".repeat(300);
    String attributes =
        "db.system=mysql; db.connection_string=mysql://root:s3cret@db:3306; db.name=shop;"
            + " db.statement=";
    assertThat(document(TKind.CLIENT, split(attributes + statement)))
        .containsEntry("url", statement.substring(0, 199))
        .containsEntry("dataSource", "mysql://root:***@db:3306/shop");
  }

  @Test
  void spansWithoutIdsHaveSeparateDocuments() {
    String traceId = "0af7651916cd43dd8448eb211c80319c";
    SealedWindow window =
        window(
            OzheraMessage.failed("1234.56.7890", "1.1", 1_000),
            OzheraMessage.failed("1234.56.7891", "1.1", 2_000),
            OzheraMessage.failed(traceId, "0.1", 0x10),
            OzheraMessage.failed(traceId, "0.2", 0x20),
            OzheraMessage.failed(traceId, "b7ad6b7169203331", 0x30));
    assertThat(window.documents())
        .extracting(document -> document.traceId() + "-" + document.spanId())
        .containsExactlyInAnyOrder(
            traceId + "-0000000000000010",
            traceId + "-0000000000000020",
            traceId + "-b7ad6b7169203331");
    Books books = window.books().getFirst();
    assertThat(books.recorded()).isEqualTo(5);
    assertThat(books.heldBack()).isEqualTo(2);
  }

  private static Map<String, String> document(TKind kind, String... attributes) {
    SealedWindow window =
        window(
            message(batch -> {
              span(batch, "n", kind.getValue(), attributes).attribute("error", "true");
            }));
    assertThat(window.documents()).hasSize(1);
    TraceDocument document = window.documents().getFirst();
    assertThat(document.reason()).isEqualTo(TraceDocument.Reason.ERROR);
    return document.attributes();
  }

  @Test
  void rulesExcludeSpansByPartsOfTheirTexts() throws IOException {
    OzheraRules rules =
        rules(
            """
            exclude:
              applications: [canary]
              span-names: [PING, ""]
              http-server-methods: [PUT]
              threads: [nacos]
              urls: [/health]
              user-agents: [Scan]
              statements: ["@@"]
            applications:
              my-shop-own: {exclude: {threads: []}}
            """);
    SealedWindow window =
        window(
            rules,
            message(batch -> {
              span(batch, "xPINGx", SERVER, "http.method", "GET");
              span(batch, "PUT /a", SERVER, "http.method", "PUT");
              span(batch, "PUT /b", CLIENT, "http.method", "PUT");
              span(batch, "c", SERVER, "http.method", "GET", "thread.name", "a-nacos-1");
              span(batch, "d", SERVER, "http.method", "GET", "http.url", "http://a/health/x");
              span(batch, "e", SERVER, "http.method", "GET", "http.user_agent", "SecurityScan");
              span(batch, "f", SERVER, "db.system", "mysql", "db.statement", "select @@version");
              // A part of what is listed: nothing is excluded by it.
              span(batch, "PIN", SERVER, "http.method", "GET", "thread.name", "nac");
            }),
            span(new BatchMessage("a-canary-b"), "g", SERVER, "http.method", "GET").message(1),
            span(new BatchMessage("can"), "h", SERVER, "http.method", "GET").message(2),
            span(
                    new BatchMessage("my-shop-own"),
                    "i",
                    SERVER,
                    "http.method",
                    "GET",
                    "thread.name",
                    "nacos")
                .message(3));

    assertThat(series(window))
        .containsExactly(
            "HTTP_CLIENT FAST PUT /b|10.1.2.3|prod|7||| 1",
            "HTTP_SERVER FAST PIN|10.1.2.3|prod|7||| 1",
            "HTTP_SERVER FAST h||default_env|||| 1",
            "HTTP_SERVER FAST i||default_env|||| 1");
    assertThat(window.books().stream().mapToLong(Books::filtered).sum()).isEqualTo(7);
    assertThat(window.books().stream().mapToLong(Books::received).sum()).isEqualTo(11);
  }

  @Test
  void slowThresholdDependsOnTypeAndApplication() throws IOException {
    OzheraRules rules =
        rules(
            """
            slower-than-millis: {http: 100, dubbo: 200, mysql: 300}
            applications:
              own: {slower-than-millis: {http: 10, dubbo: 20, mysql: 30}}
            """);
    // OzHera takes no application's own threshold for the last four.
    String[][] types = {
      {"http.method", "GET"},
      {"rpc.system", "dubbo"},
      {"rpc.system", "grpc"},
      {"db.system", "mysql"},
      {"db.system", "mongodb"},
      {"hera.annotations", "true"},
    };
    List<String> slow = new ArrayList<>();
    for (String application : List.of("all", "own")) {
      BatchMessage batch = new BatchMessage(application);
      for (String[] type : types) {
        for (long millis : new long[] {10, 20, 30, 100, 200, 300}) {
          for (long nanos : new long[] {millis * MILLI, millis * MILLI + 1_000}) {
            batch.span("at " + millis, SERVER, 0, nanos, 0).attribute(type[0], type[1]);
            batch.attribute("db.operation", "at " + millis);
          }
        }
      }
      SealedWindow window = window(rules, batch.message(0));
      slow.add(
          application
              + series(window).stream()
                  .filter(line -> line.contains(" SLOW "))
                  .filter(line -> line.endsWith(" 1"))
                  .map(line -> line.split("[ |]"))
                  .map(parts -> " " + parts[0] + " " + parts[3])
                  .collect(Collectors.joining()));
    }

    assertThat(slow)
        .containsExactly(
            "all CUSTOM_METHOD 200 DUBBO_PROVIDER 200 GRPC_SERVER 200 HTTP_SERVER 100"
                + " MONGODB 300 MYSQL 300",
            "own CUSTOM_METHOD 200 DUBBO_PROVIDER 20 GRPC_SERVER 20 HTTP_SERVER 10"
                + " MONGODB 300 MYSQL 30");
  }

  @Test
  void degradationRemovesLabelsOfItsApplications() throws IOException {
    OzheraRules rules =
        rules("degrade: {server-ip: true, dubbo-method: true, sql: true, applications: [my-shop]}");
    Consumer<BatchMessage> spans =
        batch -> {
          span(batch, "a", SERVER, "rpc.system", "dubbo", "rpc.method", "m");
          span(batch, "b", SERVER, "db.system", "mysql", "db.statement", "select 1");
        };
    assertThat(series(window(rules, message(spans))))
        .containsExactly(
            "DUBBO_PROVIDER FAST default|10.0.0.0|prod|7||| 1",
            "MYSQL FAST |10.0.0.0|prod|7|/|default select| 1");
    BatchMessage other = new BatchMessage("my").resource("ip", "10.1.2.3");
    spans.accept(other);
    assertThat(series(window(rules, other.message(0))))
        .containsExactly(
            "DUBBO_PROVIDER FAST m|10.1.2.3|default_env|||| 1",
            "MYSQL FAST |10.1.2.3|default_env||/|select 1| 1");
  }

  @Test
  void nextOwnerContinuesOverflowSeriesOfTypeAndOutcome() throws MalformedRecordException {
    Aggregation aggregation = aggregation(OzheraRules.defaults(), 1);
    QueueAggregator first = aggregator(aggregation);
    Consumer<BatchMessage> spans =
        batch -> {
          for (String name : List.of("a", "b", "c")) {
            span(batch, name, SERVER, "http.method", "GET");
            span(batch, name, CLIENT, "http.method", "GET", "error", "true");
            span(batch, name, CLIENT, "db.system", "redis");
          }
        };
    first.accept(message(spans), 1_000);
    FilledWindow filled = first.swap(1, 1_000);
    SealedWindow window = filled.seal();
    List<String> overflow =
        List.of(
            "HTTP_CLIENT FAILED null|||||| 3",
            "HTTP_SERVER FAST null|||||| 2",
            "REDIS FAST null|||||| 3");

    assertThat(series(window)).containsAll(overflow).hasSize(4);
    assertThat(window.created().stream().filter(SeriesDefinition::overflow)).hasSize(3);
    assertThat(window.books().getFirst().overflowed()).isEqualTo(8);

    QueueImage image = aggregation.newImage();
    RecordWriter record = new RecordWriter();
    WindowFormat.encode(window, record);
    image.apply(WindowFormat.decode(record.buffer(), 0, record.size(), window.queue()));
    QueueAggregator next =
        aggregation.newAggregator(
            new QueueId("b", 0), aggregation.newDecoder(), new SpanPipelineMetrics(), image);
    BatchMessage again = batch();
    spans.accept(again);
    next.accept(again.message(1), 2_000);
    SealedWindow later = next.swap(2, 2_000).seal();

    assertThat(later.created()).isEmpty();
    assertThat(later.series()).containsExactlyInAnyOrder(window.series());
    assertThat(later.books().getFirst().overflowed()).isEqualTo(8);
  }

  @Test
  void forgedOverflowSeriesAreNotRestored() {
    assertThat(restored(aggregation(OzheraRules.defaults()), "1", "0", "1", "1", "1", "0"))
        .isEqualTo(2);
    assertThat(restored(aggregation(OzheraRules.defaults()), null, null)).isZero();
    Aggregation plain =
        Aggregation.builder(() -> 1).series(series()).histogram(histogram()).build();
    assertThat(restored(plain, "1", "0")).isZero();
    assertThat(restored(plain, null, null, null, null)).isEqualTo(1);
  }

  /** How many of the overflow series, of kinds and statuses, the queue's next owner takes over. */
  private static int restored(Aggregation aggregation, String... kindsAndStatuses) {
    List<SeriesDefinition> definitions = new ArrayList<>();
    for (int i = 0; i < kindsAndStatuses.length; i += 2) {
      String[] values = new String[10];
      values[0] = "shop";
      values[SeriesDefinition.SPAN_KIND] = kindsAndStatuses[i];
      values[SeriesDefinition.STATUS_CODE] = kindsAndStatuses[i + 1];
      definitions.add(new SeriesDefinition(i / 2, 1_000, true, Arrays.asList(values)));
    }
    QueueAggregator writer = aggregator(aggregation);
    writer.accept(new BatchMessage("other").message(0), 1_000);
    SealedWindow empty = writer.swap(1, 1_000).seal();
    QueueImage image = aggregation.newImage();
    image.apply(
        new SealedWindow(
            empty.queue(),
            empty.from(),
            empty.to(),
            empty.openedMillis(),
            empty.sealedMillis(),
            definitions,
            empty.evicted(),
            empty.rows(),
            empty.stride(),
            empty.series(),
            empty.counts(),
            empty.durationNanos(),
            empty.exemplars(),
            empty.exemplarBuckets(),
            empty.documents(),
            empty.books(),
            empty.schema(),
            empty.carries(),
            empty.batches(),
            empty.natives(),
            WindowPanes.NONE,
            WindowCompleteness.NONE,
            SealedWindow.UNKNOWN_CLOSED,
            false,
            EdgeChange.NONE));
    return aggregation
        .newAggregator(
            new QueueId("b", 0), aggregation.newDecoder(), new SpanPipelineMetrics(), image)
        .seriesCount();
  }
}
