package org.traceetl.perf.ozhera;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The documents that Elasticsearch has in OzHera's daily indexes. */
final class IndexedDocuments {
  private static final JsonMapper JSON = new JsonMapper();
  private static final int PAGE = 5_000;

  private final URI elasticsearch;
  private final String indexes;
  private final HttpClient http;

  /**
   * @param prefix what the names of the indexes begin with; a date follows
   */
  IndexedDocuments(URI elasticsearch, String prefix, HttpClient http) {
    this.elasticsearch = elasticsearch;
    indexes = prefix + "*";
    this.http = http;
  }

  /** A document where it stands. */
  record Found(String index, ExpectedDocument document) {}

  /** All of them by trace ID. */
  Map<String, List<Found>> all() throws IOException, InterruptedException {
    Map<String, List<Found>> all = new HashMap<>();
    if (send("POST", "/" + indexes + "/_refresh", null).at("/_shards/total").asInt(0) == 0) {
      return all; // no document was ever written
    }
    String pointInTime =
        send("POST", "/" + indexes + "/_pit?keep_alive=2m", null).path("id").asString();
    JsonNode after = null;
    while (true) {
      ObjectNode search = JSON.createObjectNode();
      search.put("size", PAGE).put("track_total_hits", false);
      search.putObject("pit").put("id", pointInTime).put("keep_alive", "2m");
      search.putArray("sort").addObject().put("_shard_doc", "asc");
      if (after != null) {
        search.set("search_after", after);
      }
      ArrayNode hits =
          (ArrayNode) send("POST", "/_search", JSON.writeValueAsString(search)).at("/hits/hits");
      for (JsonNode hit : hits) {
        Found found = new Found(hit.path("_index").asString(), document(hit.path("_source")));
        all.computeIfAbsent(found.document.traceId(), ignored -> new ArrayList<>()).add(found);
        after = hit.path("sort");
      }
      if (hits.size() < PAGE) {
        return all;
      }
    }
  }

  private static ExpectedDocument document(JsonNode source) {
    Map<String, String> fields = new TreeMap<>();
    for (Map.Entry<String, JsonNode> field : source.properties()) {
      // Numbers would be told by their text: the fields are texts.
      fields.put(
          field.getKey(),
          field.getValue().isString() ? field.getValue().asString() : field.getValue().toString());
    }
    return ExpectedDocument.of(fields);
  }

  private JsonNode send(String method, String path, String body)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(elasticsearch.resolve(path))
            .timeout(Duration.ofSeconds(60))
            .header("Content-Type", "application/json")
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200) {
      throw new IOException("Elasticsearch refuses " + path + ": " + response.body());
    }
    return JSON.readTree(response.body());
  }
}
