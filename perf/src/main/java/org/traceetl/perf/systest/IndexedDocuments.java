package org.traceetl.perf.systest;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The documents in Elasticsearch's indexes.
 *
 * @param indexes names or patterns, as in Elasticsearch's paths
 */
public record IndexedDocuments(URI elasticsearch, String indexes, HttpClient http) {
  private static final JsonMapper JSON = new JsonMapper();
  private static final int PAGE = 5_000;

  /**
   * Reads all documents that match.
   *
   * @param reasons values of field {@code reason} that match; if empty, all documents match
   * @param each receives the index and the document's source
   */
  public void forEach(List<String> reasons, BiConsumer<String, JsonNode> each)
      throws IOException, InterruptedException {
    JsonNode refreshed = send("POST", "/" + indexes + "/_refresh", null);
    if (refreshed == null || refreshed.at("/_shards/total").asInt(0) == 0) {
      return; // no document was written
    }
    String pointInTime =
        send("POST", "/" + indexes + "/_pit?keep_alive=2m", null).path("id").asString();
    JsonNode after = null;
    ArrayNode hits;
    do {
      ObjectNode search = JSON.createObjectNode();
      search.put("size", PAGE).put("track_total_hits", false);
      search.putObject("pit").put("id", pointInTime).put("keep_alive", "2m");
      if (!reasons.isEmpty()) {
        ArrayNode terms = search.putObject("query").putObject("terms").putArray("reason");
        reasons.forEach(terms::add);
      }
      search.putArray("sort").addObject().put("_shard_doc", "asc");
      if (after != null) {
        search.set("search_after", after);
      }
      hits = (ArrayNode) send("POST", "/_search", JSON.writeValueAsString(search)).at("/hits/hits");
      for (JsonNode hit : hits) {
        each.accept(hit.path("_index").asString(), hit.path("_source"));
        after = hit.path("sort");
      }
    } while (hits.size() == PAGE);
  }

  /** Returns the answer, or null if the index does not exist. */
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
