package org.traceetl.perf.chaos;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The documents that Elasticsearch has. */
final class IndexedDocuments {
  private static final JsonMapper JSON = new JsonMapper();
  private static final int PAGE = 5_000;

  private final URI elasticsearch;
  private final HttpClient http;

  IndexedDocuments(URI elasticsearch, HttpClient http) {
    this.elasticsearch = elasticsearch;
    this.http = http;
  }

  /** How often each slow or failed span stands there, by trace and span ID. */
  Map<String, Integer> copies() throws IOException, InterruptedException {
    Map<String, Integer> copies = new HashMap<>();
    if (send("POST", "/" + Installation.DATA_STREAM + "/_refresh", null) == null) {
      return copies; // no document was ever written
    }
    String pointInTime =
        send("POST", "/" + Installation.DATA_STREAM + "/_pit?keep_alive=2m", null)
            .path("id")
            .asString();
    JsonNode after = null;
    while (true) {
      ObjectNode search = JSON.createObjectNode();
      search.put("size", PAGE).put("track_total_hits", false);
      search.putArray("_source").add("trace_id").add("span_id");
      search.putObject("pit").put("id", pointInTime).put("keep_alive", "2m");
      search.putObject("query").putObject("terms").putArray("reason").add("error").add("slow");
      search.putArray("sort").addObject().put("_shard_doc", "asc");
      if (after != null) {
        search.set("search_after", after);
      }
      ArrayNode hits =
          (ArrayNode) send("POST", "/_search", JSON.writeValueAsString(search)).at("/hits/hits");
      for (JsonNode hit : hits) {
        JsonNode source = hit.path("_source");
        copies.merge(
            source.path("trace_id").asString() + "-" + source.path("span_id").asString(),
            1,
            Integer::sum);
        after = hit.path("sort");
      }
      if (hits.size() < PAGE) {
        return copies;
      }
    }
  }

  /** The answer; null if there is no such index. */
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
    if (response.statusCode() == 404) {
      return null;
    }
    if (response.statusCode() != 200) {
      throw new IOException("Elasticsearch refuses " + path + ": " + response.body());
    }
    return JSON.readTree(response.body());
  }
}
