package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Sends the requests of Grafana's Elasticsearch data source for a panel's query. They are those of
 * processDocumentQuery and processTimeSeriesQuery in its data_query_processor.go, and of its
 * getTermsQuery for a variable.
 */
final class ElasticsearchQueries {
  private static final JsonMapper JSON = new JsonMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final String TIME = "@timestamp";
  private static final int RANGE_MILLIS = 600_000;

  private final URI url;
  private final String index;

  /**
   * Queries one index.
   *
   * @param index the index setting of the data source
   */
  ElasticsearchQueries(URI url, String index) {
    this.url = url;
    this.index = index;
  }

  /** Returns the number of documents in the panel's table or bars. */
  long found(JsonNode target, GrafanaVariables variables) throws IOException, InterruptedException {
    ObjectNode body = body(variables.inLucene(target.path("query").asString()));
    JsonNode metric = target.path("metrics").path(0);
    if (metric.path("type").asString().equals("raw_data")) {
      body.put("size", Integer.parseInt(metric.path("settings").path("size").asString()));
      ObjectNode sort = body.putObject("sort");
      sort.putObject(TIME).put("order", "desc").put("unmapped_type", "boolean");
      sort.putObject("_doc").put("order", "desc");
      body.putArray("docvalue_fields").add(TIME);
      body.putArray("fields")
          .addObject()
          .put("field", TIME)
          .put("format", "strict_date_optional_time_nanos");
      JsonNode hits = search(body).path("hits").path("hits");
      assertThat(hits)
          .allSatisfy(
              hit -> assertThat(hit.path("_source").path("trace_id").asString("")).hasSize(32));
      return hits.size();
    }
    assertThat(metric.path("type").asString()).isEqualTo("count");
    aggregate(body.put("size", 0), target.path("bucketAggs"), 0);
    String first = target.path("bucketAggs").path(0).path("id").asString();
    long documents = 0;
    for (JsonNode bucket : search(body).path("aggregations").path(first).path("buckets")) {
      documents += bucket.path("doc_count").asLong();
    }
    return documents;
  }

  private static void aggregate(ObjectNode within, JsonNode aggregations, int number) {
    if (number == aggregations.size()) {
      return;
    }
    JsonNode one = aggregations.path(number);
    JsonNode settings = one.path("settings");
    String type = one.path("type").asString();
    ObjectNode aggregation = within.putObject("aggs").putObject(one.path("id").asString());
    ObjectNode made = aggregation.putObject(type).put("field", one.path("field").asString());
    made.put("min_doc_count", Integer.parseInt(settings.path("min_doc_count").asString()));
    if (type.equals("terms")) {
      assertThat(settings.path("orderBy").asString()).isEqualTo("_term");
      made.put("size", Integer.parseInt(settings.path("size").asString()));
      made.putObject("order").put("_key", settings.path("order").asString());
    } else {
      assertThat(type).isEqualTo("date_histogram");
      assertThat(settings.path("interval").asString()).isEqualTo("auto");
      long now = System.currentTimeMillis();
      made.put("fixed_interval", "1000ms").put("format", "epoch_millis");
      made.putObject("extended_bounds").put("min", now - RANGE_MILLIS).put("max", now);
    }
    aggregate(aggregation, aggregations, number + 1);
  }

  /** Returns the values of a field, for a variable. */
  List<String> terms(JsonNode query, GrafanaVariables variables)
      throws IOException, InterruptedException {
    assertThat(query.path("find").asString()).isEqualTo("terms");
    ObjectNode body = body(variables.inLucene(query.path("query").asString())).put("size", 0);
    ObjectNode terms = body.putObject("aggs").putObject("1").putObject("terms");
    terms.put("field", query.path("field").asString()).put("size", query.path("size").asInt());
    terms.putObject("order").put("_key", "asc");
    List<String> values = new ArrayList<>();
    search(body)
        .path("aggregations")
        .path("1")
        .path("buckets")
        .forEach(bucket -> values.add(bucket.path("key").asString()));
    return values;
  }

  private static ObjectNode body(String lucene) {
    long now = System.currentTimeMillis();
    ObjectNode body = JSON.createObjectNode();
    var filter = body.putObject("query").putObject("bool").putArray("filter");
    filter
        .addObject()
        .putObject("range")
        .putObject(TIME)
        .put("gte", now - RANGE_MILLIS)
        .put("lte", now)
        .put("format", "epoch_millis");
    filter.addObject().putObject("query_string").put("analyze_wildcard", true).put("query", lucene);
    return body;
  }

  private JsonNode search(ObjectNode body) throws IOException, InterruptedException {
    ObjectNode header = JSON.createObjectNode().put("ignore_unavailable", true);
    header.putArray("index").add(index);
    HttpResponse<String> response =
        HTTP.send(
            HttpRequest.newBuilder(url.resolve("/_msearch?max_concurrent_shard_requests=5"))
                .header("Content-Type", "application/x-ndjson")
                .POST(HttpRequest.BodyPublishers.ofString(header + "\n" + body + "\n"))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    JsonNode answer = JSON.readTree(response.body()).path("responses").path(0);
    assertThat(answer.path("status").asInt()).as(body + ": " + response.body()).isEqualTo(200);
    return answer;
  }
}
