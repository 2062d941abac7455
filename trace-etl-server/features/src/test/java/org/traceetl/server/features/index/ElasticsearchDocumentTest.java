package org.traceetl.server.features.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.TraceDocument.Reason;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The documents in Elasticsearch stay what they are: servers read those of earlier releases. */
class ElasticsearchDocumentTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final TraceDocument DOCUMENT =
      new TraceDocument(
          "0af7651916cd43dd8448eb211c80319c",
          "b7ad6b7169203331",
          "shop",
          "GET /größe",
          2,
          2,
          "out of stock",
          1_795_257_428_312_000_007L,
          1_234_567_890,
          Reason.ERROR,
          Map.of("http.route", "/größe", "trace_etl.represents", "12"));

  @Test
  void aDocumentIsThisJson() throws IOException {
    // As text, because a number that was read has another type.
    String json = ElasticsearchDocument.toJson(DOCUMENT).toString();

    assertThat(JSON.readTree(json)).isEqualTo(golden());
  }

  @Test
  void thisJsonIsADocument() throws IOException {
    assertThat(ElasticsearchDocument.fromJson(golden())).isEqualTo(DOCUMENT);
  }

  private static JsonNode golden() throws IOException {
    try (InputStream in = ElasticsearchDocumentTest.class.getResourceAsStream("document_1.json")) {
      return JSON.readTree(in);
    }
  }
}
