package org.traceetl.server.features.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.TraceDocument.Reason;
import org.traceetl.testkit.Elasticsearch;

@Tag("elasticsearch")
final class ElasticsearchIndexTest extends TraceIndexContract {
  private static final AtomicInteger STREAMS = new AtomicInteger();

  private final HttpClient http = HttpClient.newHttpClient();
  private final String dataStream = "contract-" + STREAMS.incrementAndGet();

  @Override
  TraceIndex open() throws Exception {
    return ElasticsearchIndex.open(config(Elasticsearch.shared().url(), dataStream));
  }

  static IndexConfig.Elasticsearch config(URI url, String dataStream) {
    return new IndexConfig.Elasticsearch(
        List.of(url),
        dataStream,
        Duration.ofDays(7),
        Duration.ofSeconds(30),
        null,
        null,
        null,
        null);
  }

  @Override
  void refresh() throws Exception {
    send("POST", "/" + dataStream + "/_refresh", "");
  }

  private String send(String method, String path, String body) throws Exception {
    return http.send(
            HttpRequest.newBuilder(Elasticsearch.shared().url().resolve(path))
                .header("Content-Type", "application/json")
                .method(method, BodyPublishers.ofString(body))
                .build(),
            BodyHandlers.ofString())
        .body();
  }

  @Test
  void whatTheMappingRefusesIsDroppedAlone() throws Exception {
    TraceDocument good = Traces.document(1, START);
    // Elasticsearch keeps NUL in keys of a flattened field for itself.
    TraceDocument bad =
        Traces.document(2, START, "shop", "secret", Reason.SLOW, Map.of("se\0cret", "secret"));
    TraceDocument better = Traces.document(3, START);
    try (TraceIndex index = open()) {
      WriteResult result = index.write(List.of(good, bad, better));
      refresh();

      assertThat(result.kept()).isEqualTo(2);
      assertThat(result.again()).isEmpty();
      assertThat(result.refused())
          .singleElement()
          .satisfies(refusal -> {
            assertThat(refusal.document()).isEqualTo(bad);
            assertThat(refusal.reason()).isEqualTo("mapping");
            assertThat(refusal.detail()).doesNotContain("secret", "cret").isNotEmpty();
          });
      assertThat(index.search(Traces.ALL).documents()).containsExactly(good, better);
    }
  }

  @Test
  void aDocumentThatEnteredAgainAfterARolloverIsFoundOnce() throws Exception {
    TraceDocument one = Traces.document(1, START);
    TraceDocument two = Traces.document(2, START);
    try (TraceIndex index = open()) {
      index.write(List.of(one, two));
      assertThat(send("POST", "/" + dataStream + "/_rollover", ""))
          .contains("\"rolled_over\":true");
      index.write(List.of(two));
      refresh();
      assertThat(index.search(Traces.ALL).documents()).containsExactly(one, two);
      assertThat(Traces.all(index, 2)).containsExactly(one, two);
    }
  }

  @Test
  void whatTheClusterPutsOffIsToBeTriedAgain() throws Exception {
    TraceDocument one = Traces.document(1, START);
    TraceDocument two = Traces.document(2, START);
    try (TraceIndex index = open()) {
      index.write(List.of(one));
      // As a disk does that is nearly full: status 429.
      send(
          "PUT",
          "/" + dataStream + "/_settings",
          "{\"index.blocks.read_only_allow_delete\": true}");
      assertThat(index.write(List.of(two))).isEqualTo(new WriteResult(0, List.of(), List.of(two)));
      assertThat(index.healthy()).isFalse();

      send(
          "PUT",
          "/" + dataStream + "/_settings",
          "{\"index.blocks.read_only_allow_delete\": null}");
      assertThat(index.write(List.of(two))).isEqualTo(WriteResult.kept(1));
      assertThat(index.healthy()).isTrue();
    }
  }

  @Test
  void theTemplateHoldsRetentionAndMapping() throws Exception {
    try (TraceIndex index = open()) {
      index.write(List.of(Traces.document(1, START)));
    }
    String template = send("GET", "/_index_template/" + dataStream, "");
    assertThat(template)
        .contains("\"data_stream\":", "\"data_retention\":\"7d\"", "\"type\":\"date_nanos\"");
    assertThat(send("GET", "/_cat/indices?h=index&expand_wildcards=all", ""))
        .contains(".ds-" + dataStream);
  }
}
