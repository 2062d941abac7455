package org.traceetl.server.ozhera;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.common.Clocks;
import org.traceetl.server.features.index.Cursor;
import org.traceetl.server.features.index.Documents;
import org.traceetl.server.features.index.IndexConfig;
import org.traceetl.server.features.index.TraceIndex;
import org.traceetl.server.features.index.TracePage;
import org.traceetl.server.features.index.Traces;
import org.traceetl.server.features.index.WriteResult;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.TraceDocument.Reason;
import org.traceetl.testkit.Elasticsearch;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** OzHera's layout in a real Elasticsearch, asked as OzHera's pages ask. */
@Tag("elasticsearch")
final class OzheraLayoutTest {
  /** 2026-11-21T00:00:00.123456789Z. */
  private static final long START = 1_795_219_200_123_456_789L;

  private static final long MILLI = 1_000_000L;
  private static final String DAY = "2026.11.21";
  private static final AtomicInteger PREFIXES = new AtomicInteger();
  private static final JsonMapper JSON = new JsonMapper();

  private final HttpClient http = HttpClient.newHttpClient();

  /** OzHera's own but for a number of the test's own in front. */
  private final String prefix =
      PREFIXES.incrementAndGet() + "_zgq_common_staging_private_prometheus-";

  private final String alias = prefix.substring(0, prefix.length() - 1);
  private Instant now = Instant.ofEpochSecond(0, START).plus(Duration.ofHours(1));
  private TraceIndex index;

  @BeforeEach
  void open() throws Exception {
    index = open(ZoneOffset.UTC);
  }

  private TraceIndex open(ZoneId zone) throws Exception {
    IndexConfig.Elasticsearch config = config(Elasticsearch.shared().url(), prefix, "hera", zone);
    return TraceIndex.open(
        IndexConfig.of(config), new OzheraLayout(config, () -> now), Clocks.SYSTEM);
  }

  static IndexConfig.Elasticsearch config(URI url, String prefix, String domain, ZoneId zone) {
    return new IndexConfig.Elasticsearch(
        List.of(url),
        "unused",
        Duration.ofDays(7),
        Duration.ofSeconds(30),
        null,
        null,
        null,
        null,
        "ozhera",
        prefix,
        domain,
        zone);
  }

  @AfterEach
  void close() {
    index.close();
  }

  private JsonNode send(String method, String path, String body) throws Exception {
    return JSON.readTree(
        http.send(
                HttpRequest.newBuilder(Elasticsearch.shared().url().resolve(path))
                    .header("Content-Type", "application/json")
                    .method(method, BodyPublishers.ofString(body))
                    .build(),
                BodyHandlers.ofString())
            .body());
  }

  private void write(TraceDocument... documents) throws Exception {
    assertThat(index.write(List.of(documents))).isEqualTo(WriteResult.kept(documents.length));
    refresh();
  }

  private void refresh() throws Exception {
    send("POST", "/" + prefix + "*/_refresh", "");
  }

  private JsonNode source(String day, TraceDocument document) throws Exception {
    return send("GET", "/" + prefix + day + "/_doc/" + Documents.id(document), "").path("_source");
  }

  private List<String> indices() throws Exception {
    List<String> names = new ArrayList<>();
    send("GET", "/" + alias + "/_alias", "").propertyNames().forEach(names::add);
    return names.stream().sorted().toList();
  }

  private static TraceDocument document(long number, long startUnixNanos, Reason reason) {
    return Traces.document(
        number,
        startUnixNanos,
        "314-shop-front",
        "GET",
        reason,
        Map.of("type", "http", "host", "10.1.2.3", "url", "/cart", "errorCode", "502"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "http|/cart||",
        "http_client|/pay||",
        "dubbo_consumer|com.shop.Cart/get||",
        "dubbo_provider|com.shop.Cart/get||",
        "grpc_client|shop.Cart/Get||",
        "grpc_server|shop.Cart/Get||",
        "redis|GET|10.0.0.9:6379|",
        "mysql|select * from cart where id = ?|jdbc:mysql://db:3306/shop|",
        "mongodb|{find: cart}|mongo:27017|",
        "rocketmq_producer|orders||",
        "rocketmq_consumer|orders||",
        "customize_method|Cart.total||",
      })
  void everyTypeHasOzherasFields(String type, String url, String dataSource) throws Exception {
    Map<String, String> attributes = new LinkedHashMap<>();
    attributes.put("type", type);
    attributes.put("host", "10.1.2.3");
    attributes.put("url", url);
    attributes.put("errorCode", "500");
    attributes.put("serverEnv", "default_env");
    if (dataSource != null) {
      attributes.put("dataSource", dataSource);
    }
    TraceDocument document =
        Traces.document(1, START, "314-shop-front", "whatever", Reason.ERROR, attributes);
    write(document);

    assertThat(source(DAY, document))
        .isEqualTo(
            JSON.readTree(
                """
                {"domain": "hera", "type": "%s", "host": "10.1.2.3", "url": "%s",
                 "dataSource": "%s", "serviceName": "314_shop_front",
                 "traceId": "%s", "timestamp": "1795219201357", "duration": "1234.567",
                 "errorType": "error", "errorCode": "500", "serverEnv": "default_env"}
                """
                    .formatted(
                        type, url, dataSource == null ? "" : dataSource, document.traceId())));
  }

  @Test
  void aSlowSpanIsATimeout() throws Exception {
    TraceDocument document = document(1, START, Reason.SLOW);
    write(document);
    assertThat(source(DAY, document).path("errorType").asString()).isEqualTo("timeout");
  }

  @Test
  void aSpanIsInTheIndexOfTheDayOfItsEnd() throws Exception {
    long midnight = START - 123_456_789;
    TraceDocument before = document(1, midnight - 1_300 * MILLI, Reason.ERROR);
    TraceDocument over = document(2, midnight - 1_000 * MILLI, Reason.ERROR);
    TraceDocument after = document(3, midnight, Reason.ERROR);
    write(before, over, after);

    assertThat(indices()).containsExactly(prefix + "2026.11.20", prefix + DAY);
    assertThat(source("2026.11.20", before).isMissingNode()).isFalse();
    assertThat(source(DAY, over).isMissingNode()).isFalse();
    assertThat(source(DAY, after).isMissingNode()).isFalse();
  }

  @Test
  void daysAreThoseOfTheTimeZone() throws Exception {
    index.close();
    index = open(ZoneId.of("Asia/Shanghai"));
    // 23:59:59 and 00:00:00 there.
    write(
        document(1, START - 8 * 3_600_000 * MILLI - 2_000 * MILLI, Reason.ERROR),
        document(2, START - 8 * 3_600_000 * MILLI, Reason.ERROR));
    assertThat(indices()).containsExactly(prefix + "2026.11.20", prefix + DAY);
  }

  @Test
  void anAbsurdClockMakesNoIndexOfItsOwn() throws Exception {
    long day = 86_400_000 * MILLI;
    write(
        document(1, 0, Reason.ERROR),
        document(2, Long.MAX_VALUE, Reason.ERROR),
        document(3, START + 30 * day, Reason.ERROR),
        document(4, START - 9 * day, Reason.ERROR),
        document(5, START - 7 * day, Reason.ERROR));
    assertThat(indices()).containsExactly(prefix + "2026.11.14", prefix + DAY);
  }

  @Test
  void aRepeatIsThereOnce() throws Exception {
    TraceDocument document = document(1, START, Reason.ERROR);
    write(document);
    write(document, document);
    assertThat(send("GET", "/" + alias + "/_count", "").path("count").asInt()).isEqualTo(1);
  }

  /** As OzHera's monitor asks: phrases, a range of times as numbers, newest first, by the alias. */
  @Test
  void ozherasPagesFindIt() throws Exception {
    TraceDocument mine = document(1, START, Reason.ERROR);
    TraceDocument slow = document(2, START, Reason.SLOW);
    TraceDocument later = document(3, START + 3_600_000 * MILLI, Reason.ERROR);
    write(mine, slow, later);

    JsonNode found =
        send(
            "POST",
            "/" + alias + "/_search",
            """
            {"query": {"bool": {"must": [
               {"match_phrase": {"domain": "hera"}},
               {"match_phrase": {"serviceName": "314_shop_front"}},
               {"match_phrase": {"host": "10.1.2.3"}},
               {"match_phrase": {"type": "http"}},
               {"match_phrase": {"errorType": "error"}},
               {"wildcard": {"url": "/ca*"}},
               {"range": {"timestamp": {"gte": 1795219200000, "lte": 1795219260000}}}]}},
             "from": 0, "size": 100, "sort": [{"timestamp": {"order": "desc"}}]}
            """);
    JsonNode hits = found.path("hits").path("hits");
    assertThat(hits.size()).as(found.toString()).isEqualTo(1);
    assertThat(hits.path(0).path("_source").path("traceId").asString()).isEqualTo(mine.traceId());
  }

  /** Fault 6 of OzHera: failures of single documents in a bulk were not looked at. */
  @Test
  void whatTheMappingRefusesIsDroppedAloneAndCounted() throws Exception {
    // As OzHera's template makes the field, which takes addresses only.
    send(
        "PUT",
        "/" + prefix + DAY,
        "{\"mappings\": {\"properties\": {\"host\": {\"type\": \"ip\"}}}}");
    TraceDocument good = document(1, START, Reason.ERROR);
    TraceDocument bad =
        Traces.document(
            2, START, "shop", "x", Reason.ERROR, Map.of("type", "http", "host", "secret-host"));
    WriteResult result = index.write(List.of(good, bad));

    assertThat(result.kept()).isEqualTo(1);
    assertThat(result.again()).isEmpty();
    assertThat(result.refused())
        .singleElement()
        .satisfies(refusal -> {
          assertThat(refusal.document()).isEqualTo(bad);
          assertThat(refusal.reason()).isEqualTo("mapping");
          assertThat(refusal.detail()).isNotEmpty().doesNotContain("secret");
        });
  }

  @Test
  void aHostThatIsNoAddressIsNoFault() throws Exception {
    TraceDocument named =
        Traces.document(
            2, START, "shop", "x", Reason.ERROR, Map.of("type", "http", "host", "shop-1"));
    write(named, Traces.document(3, START, "shop", "x", Reason.ERROR, Map.of("type", "http")));
    assertThat(source(DAY, named).path("host").asString()).isEqualTo("shop-1");
  }

  /** Fault 6 of OzHera: nothing was tried again. */
  @Test
  void whatTheClusterPutsOffIsToBeTriedAgain() throws Exception {
    TraceDocument one = document(1, START, Reason.ERROR);
    TraceDocument two = document(2, START, Reason.ERROR);
    write(one);
    send("PUT", "/" + alias + "/_settings", "{\"index.blocks.read_only_allow_delete\": true}");
    assertThat(index.write(List.of(two))).isEqualTo(new WriteResult(0, List.of(), List.of(two)));
    send("PUT", "/" + alias + "/_settings", "{\"index.blocks.read_only_allow_delete\": null}");
    assertThat(index.write(List.of(two))).isEqualTo(WriteResult.kept(1));
  }

  @Test
  void whatOzheraWouldNotHaveWrittenIsRefusedByName() throws Exception {
    TraceDocument exemplar = document(1, START, Reason.EXEMPLAR);
    TraceDocument untyped = Traces.document(2, START);
    TraceDocument error = document(3, START, Reason.ERROR);
    WriteResult result = index.write(List.of(exemplar, error, untyped));
    assertThat(result.kept()).isEqualTo(1);
    assertThat(result.refused())
        .extracting(WriteResult.Refusal::document, WriteResult.Refusal::reason)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(exemplar, "layout"),
            org.assertj.core.groups.Tuple.tuple(untyped, "layout"));
  }

  @Test
  void theTemplateHoldsMappingAndAlias() throws Exception {
    write(document(1, START, Reason.ERROR));
    JsonNode template =
        send("GET", "/_index_template/trace-etl-" + alias, "")
            .path("index_templates")
            .path(0)
            .path("index_template");
    assertThat(template.path("index_patterns").path(0).asString()).isEqualTo(prefix + "*");
    assertThat(template.path("template").path("aliases").has(alias)).isTrue();
    JsonNode mappings =
        send("GET", "/" + prefix + DAY + "/_mapping", "").path(prefix + DAY).path("mappings");
    assertThat(mappings.path("dynamic").asString()).isEqualTo("false");
    assertThat(mappings.path("properties").propertyNames())
        .containsExactlyInAnyOrder(
            "domain",
            "type",
            "host",
            "url",
            "dataSource",
            "serviceName",
            "traceId",
            "timestamp",
            "duration",
            "errorType",
            "errorCode",
            "serverEnv");
  }

  /** Indices make themselves, so that nothing fails when it is gone. */
  @Test
  void aLostTemplateIsThereAgainForTheNextDay() throws Exception {
    write(document(1, START, Reason.ERROR));
    send("DELETE", "/_index_template/trace-etl-" + alias, "");

    now = now.plus(Duration.ofDays(1));
    write(document(2, START + 86_400_000 * MILLI, Reason.ERROR));

    assertThat(indices()).containsExactly(prefix + DAY, prefix + "2026.11.22");
  }

  /** OzHera's operator puts one of the older kind, for the same indices. */
  @Test
  void theTemplateStandsAboveOzherasOwn() throws Exception {
    JsonNode put =
        send(
            "PUT",
            "/_template/" + alias,
            """
            {"index_patterns": ["%s*"], "settings": {"number_of_replicas": "0"},
             "mappings": {"properties": {"host": {"type": "ip"}, "env": {"type": "keyword"}}},
             "aliases": {"%s": {}}}
            """
                .formatted(alias, alias));
    assertThat(put.path("acknowledged").asBoolean()).as(put.toString()).isTrue();

    write(
        Traces.document(
            1, START, "shop", "x", Reason.ERROR, Map.of("type", "http", "host", "no address")));

    assertThat(indices()).containsExactly(prefix + DAY);
    assertThat(
            send("GET", "/" + prefix + DAY + "/_mapping", "")
                .path(prefix + DAY)
                .path("mappings")
                .path("properties")
                .has("env"))
        .isFalse();
  }

  @Test
  void aSearchGivesWhatThereAreFieldsFor() throws Exception {
    TraceDocument document = document(1, START, Reason.ERROR);
    write(document);
    assertThat(index.search(Traces.query("314-shop-front", "/cart", Reason.ERROR)).documents())
        .containsExactly(
            new TraceDocument(
                document.traceId(),
                document.spanId(),
                "314_shop_front",
                "/cart",
                2,
                2,
                "",
                (1_795_219_201_357_000L - 1_234_567L) * 1_000,
                1_234_567_000L,
                Reason.ERROR,
                Map.of("type", "http", "host", "10.1.2.3", "errorCode", "502")));
    assertThat(index.search(Traces.query("314_shop_front", null, null)).documents()).hasSize(1);
    assertThat(index.search(Traces.query(null, null, Reason.SLOW)).documents()).isEmpty();
    assertThat(index.search(Traces.query(null, null, Reason.EXEMPLAR)).documents()).isEmpty();
    assertThat(index.search(Traces.query("shop", null, null)).documents()).isEmpty();
    // From and to are about the end.
    long end = 1_795_219_201_357L * MILLI;
    assertThat(index.search(Traces.between(end, end + MILLI)).documents()).hasSize(1);
    assertThat(index.search(Traces.between(0, end)).documents()).isEmpty();
    assertThat(index.search(Traces.between(end + MILLI, Long.MAX_VALUE)).documents()).isEmpty();
  }

  @Test
  void anIndexWithoutDocumentsFindsNone() throws Exception {
    assertThat(index.search(Traces.ALL)).isEqualTo(new TracePage(List.of(), null));
    assertThat(index.search(Traces.pages(1, new Cursor(START, "a5".repeat(16), "a5".repeat(8)))))
        .isEqualTo(new TracePage(List.of(), null));
  }

  @Test
  void pagesNeitherLoseNorRepeatAndPassOverOzherasOwn() throws Exception {
    List<TraceDocument> written = new ArrayList<>();
    // Traces of three spans each, all of which end at one of two times.
    for (long i = 0; i < 150; i++) {
      TraceDocument any = document(i, START + i % 2 * MILLI, Reason.ERROR);
      written.add(
          new TraceDocument(
              "%032x".formatted(i / 3 + 1),
              any.spanId(),
              any.application(),
              any.operation(),
              any.kind(),
              any.status(),
              "",
              any.startUnixNanos(),
              any.durationNanos(),
              any.reason(),
              any.attributes()));
    }
    write(written.toArray(TraceDocument[]::new));
    StringBuilder foreign = new StringBuilder();
    for (int i = 0; i < 250; i++) {
      foreign
          .append("{\"index\": {\"_index\": \"" + prefix + DAY + "\"}}\n")
          .append("{\"traceId\": \"%032x\", \"timestamp\": \"1795219201357\"}\n".formatted(i));
    }
    assertThat(send("POST", "/_bulk?refresh=true", foreign.toString()).path("errors").asBoolean())
        .isFalse();

    List<String> expected = written.stream().map(Documents::id).sorted().toList();
    List<String> inOrder = ids(all(1000));
    assertThat(inOrder.stream().sorted()).containsExactlyElementsOf(expected);
    for (int limit : new int[] {1, 2, 7, 149, 150}) {
      assertThat(ids(all(limit))).as("limit %d", limit).isEqualTo(inOrder);
    }
  }

  @Test
  void moreThanCanBeToldApartEndsPagesAllTheSame() throws Exception {
    List<TraceDocument> together =
        LongStream.range(0, 250)
            .mapToObj(i -> {
              TraceDocument any = document(i, START, Reason.ERROR);
              return new TraceDocument(
                  "a5".repeat(16),
                  any.spanId(),
                  any.application(),
                  any.operation(),
                  any.kind(),
                  any.status(),
                  "",
                  START,
                  1,
                  any.reason(),
                  any.attributes());
            })
            .toList();
    write(together.toArray(TraceDocument[]::new));
    write(document(1_000, START - 3_600_000 * MILLI, Reason.ERROR));
    List<String> found = ids(all(10));
    assertThat(found)
        .doesNotHaveDuplicates()
        .contains(Documents.id(document(1_000, START, Reason.ERROR)));
  }

  /** Every document, page by page, of which there are not more than there may be. */
  private List<TraceDocument> all(int limit) throws Exception {
    List<TraceDocument> all = new ArrayList<>();
    Cursor next = null;
    for (int pages = 0; pages < 400; pages++) {
      TracePage page = index.search(Traces.pages(limit, next));
      all.addAll(page.documents());
      if (page.next() == null) {
        return all;
      }
      next = Cursor.parse(page.next().toText());
    }
    throw new AssertionError("pages without end, at " + next);
  }

  private static List<String> ids(List<TraceDocument> documents) {
    return documents.stream().map(Documents::id).toList();
  }
}
