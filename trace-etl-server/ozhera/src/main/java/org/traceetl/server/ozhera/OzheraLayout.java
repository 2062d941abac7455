package org.traceetl.server.ozhera;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import co.elastic.clients.elasticsearch._types.SortOptions;
import co.elastic.clients.elasticsearch._types.SortOrder;
import co.elastic.clients.elasticsearch._types.query_dsl.Query;
import co.elastic.clients.elasticsearch._types.query_dsl.TermRangeQuery;
import co.elastic.clients.elasticsearch.core.BulkRequest;
import co.elastic.clients.elasticsearch.core.SearchRequest;
import co.elastic.clients.elasticsearch.core.bulk.BulkOperation;
import co.elastic.clients.elasticsearch.core.search.Hit;
import co.elastic.clients.elasticsearch.indices.IndexSettings;
import co.elastic.clients.transport.TransportException;
import co.elastic.clients.util.ObjectBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.LogThrottle;
import org.traceetl.proto.SpanId;
import org.traceetl.server.features.index.Cursor;
import org.traceetl.server.features.index.Documents;
import org.traceetl.server.features.index.ElasticsearchLayout;
import org.traceetl.server.features.index.IndexConfig;
import org.traceetl.server.features.index.TracePage;
import org.traceetl.server.features.index.TraceQuery;
import org.traceetl.server.window.TraceDocument;
import tools.jackson.databind.JsonNode;

/**
 * Documents in the form of Apache OzHera's metric service, which its pages read: one index a day,
 * all under one alias.
 *
 * <p>The day is that of the span's end, so that a repetition meets its document. An end out of
 * bounds (older than the retention, later than tomorrow) could create any number of indices: then
 * the day of the write is used, and a repetition on another day is a second document.
 *
 * <p>Elasticsearch creates indices by itself and does not report a missing template, so the
 * template is written again each day.
 *
 * <p>A lifecycle policy deletes an index after the retention plus two days, so that no document is
 * deleted too early: a host whose clock is ahead may write tomorrow's documents today. If the
 * cluster refuses the policy, the log says what to do, and documents are still written.
 *
 * <p>OzHera has no field for a span's ID: it is only in the document's ID, by which a search cannot
 * be sorted. So a page is read with some additional documents and sorted here. Documents that
 * OzHera itself has written are left out, because the cluster generated their IDs.
 */
public final class OzheraLayout implements ElasticsearchLayout {
  private static final Logger LOG = LoggerFactory.getLogger(OzheraLayout.class);
  private static final String MAPPINGS = "ozhera-mappings.json";
  private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("uuuu.MM.dd");

  /**
   * Maximum number of documents of one trace that end in one millisecond; the order of more is
   * undefined.
   */
  private static final int MOST_TOGETHER = 100;

  private static final String LOWEST = "0".repeat(SpanId.HEX_LENGTH);
  private static final String HIGHEST = "f".repeat(SpanId.HEX_LENGTH);

  /** Days from the earliest creation of an index to the end of its day. */
  private static final int DAYS_OF_AN_INDEX = 2;

  private static final int CLIENT_ERROR = 400;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;

  private final IndexConfig.Elasticsearch config;
  private final InstantSource clock;
  private final LogThrottle throttle;
  private final String alias;

  /** Name of the index template and the policy. */
  private final String name;

  public OzheraLayout(IndexConfig.Elasticsearch config, InstantSource clock) {
    this.config = config;
    this.clock = clock;
    throttle = new LogThrottle(clock);
    alias = config.indexPrefix().replaceFirst("[._-]+$", "");
    name = "trace-etl-" + alias;
  }

  /** OzHera includes Elasticsearch 7.17. */
  @Override
  public boolean olderCluster() {
    return true;
  }

  @Override
  public void prepare(ElasticsearchClient client) throws IOException {
    String age = config.retention().toDays() + DAYS_OF_AN_INDEX + "d";
    List<String> refusals = new ArrayList<>();
    boolean made =
        tried(
            () ->
                client
                    .ilm()
                    .putLifecycle(l ->
                        l.name(name)
                            .policy(p ->
                                p.phases(phases ->
                                    phases.delete(d ->
                                        d.minAge(t -> t.time(age))
                                            .actions(a -> a.delete(x -> x)))))),
            "the lifecycle policy",
            refusals);
    boolean named =
        tried(
            () -> putTemplate(client, s -> s.lifecycle(l -> l.name(name))),
            "an index template with it",
            refusals);
    if (!named) {
      putTemplate(client, s -> s);
    }
    if (made && named || !throttle.permits()) {
      return;
    }
    if (named) {
      LOG.warn(
          "Nothing deletes {}* unless lifecycle policy {} exists: create it with a deletion"
              + " after {}, or delete old indices by hand: {}",
          config.indexPrefix(),
          name,
          age,
          refusals);
    } else {
      LOG.warn(
          "Nothing deletes {}*: delete indices older than {} by hand: {}",
          config.indexPrefix(),
          age,
          refusals);
    }
  }

  /** A request that only some clusters accept, or only from some users. */
  private interface Request {
    void send() throws IOException;
  }

  /**
   * Returns whether the cluster accepted the request. Throws for temporary errors.
   *
   * @param refusals receives the reason of a refusal
   */
  private static boolean tried(Request request, String what, List<String> refusals)
      throws IOException {
    try {
      request.send();
      return true;
    } catch (ElasticsearchException e) {
      if (!isRefusal(e.status())) {
        throw e;
      }
      refusals.add("Elasticsearch did not take " + what + ": " + e.getMessage());
    } catch (TransportException e) {
      if (!isRefusal(e.statusCode())) {
        throw e;
      }
      refusals.add("Elasticsearch did not take " + what + ": " + e.getMessage());
    }
    return false;
  }

  private static boolean isRefusal(int status) {
    return status >= CLIENT_ERROR && status < SERVER_ERROR && status != TOO_MANY_REQUESTS;
  }

  /**
   * Has a higher priority than a template of OzHera's operator, so it contains all settings of that
   * one.
   */
  private void putTemplate(
      ElasticsearchClient client, UnaryOperator<IndexSettings.Builder> lifecycle)
      throws IOException {
    client
        .indices()
        .putIndexTemplate(t ->
            t.name(name)
                .indexPatterns(config.indexPrefix() + "*")
                .priority(TEMPLATE_PRIORITY)
                .template(m -> {
                  try (InputStream mappings = OzheraLayout.class.getResourceAsStream(MAPPINGS)) {
                    return m.mappings(f -> f.withJson(mappings))
                        .settings(s -> settings(lifecycle.apply(s)))
                        .aliases(alias, a -> a);
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                }));
  }

  private static ObjectBuilder<IndexSettings> settings(IndexSettings.Builder settings) {
    // Works on one node and on many.
    return settings.numberOfShards("1").autoExpandReplicas("0-1");
  }

  @Override
  public String preparedFor() {
    return day(clock.instant()).toString();
  }

  @Override
  public boolean takes(TraceDocument document) {
    return OzheraDocument.isOne(document);
  }

  @Override
  public BulkOperation create(TraceDocument document) {
    return BulkOperation.of(o ->
        o.create(c ->
            c.index(index(document))
                .id(Documents.id(document))
                .document(OzheraDocument.toJson(document, config.domain()))));
  }

  /** Returns the index of the day on which the span ended. */
  private String index(TraceDocument document) {
    Instant now = clock.instant();
    LocalDate today = day(now);
    LocalDate day = day(Instant.ofEpochMilli(OzheraDocument.endMillis(document)));
    boolean near =
        !day.isBefore(day(now.minus(config.retention()))) && !day.isAfter(today.plusDays(1));
    return config.indexPrefix() + DAY.format(near ? day : today);
  }

  private LocalDate day(Instant instant) {
    return LocalDate.ofInstant(instant, config.timeZone());
  }

  @Override
  public void address(BulkRequest.Builder request) {
    // Every operation contains its index.
  }

  @Override
  public void ask(SearchRequest.Builder request, TraceQuery query) {
    request
        .index(config.indexPrefix() + "*")
        .size(asked(query))
        .query(q -> q.bool(b -> b.filter(filters(query))))
        .sort(sort(OzheraDocument.TIMESTAMP, SortOrder.Desc))
        .sort(sort(OzheraDocument.TRACE_ID, SortOrder.Asc));
  }

  private static int asked(TraceQuery query) {
    return query.limit() + 1 + MOST_TOGETHER;
  }

  private static SortOptions sort(String field, SortOrder order) {
    return SortOptions.of(s -> s.field(f -> f.field(field).order(order)));
  }

  private static List<Query> filters(TraceQuery query) {
    List<Query> filters = new ArrayList<>();
    filters.add(endsFrom(millis(query.fromUnixNanos())));
    if (query.toUnixNanos() < Long.MAX_VALUE) {
      filters.add(endsBefore(millis(query.toUnixNanos())));
    }
    Cursor cursor = query.cursor();
    if (cursor != null) {
      long millis = millis(cursor.startUnixNanos());
      // Includes the cursor's trace again: the previous page may lack some of its spans.
      filters.add(
          Query.of(q ->
              q.bool(either ->
                  either
                      .should(endsBefore(millis))
                      .should(s ->
                          s.bool(same ->
                              same.filter(endsFrom(millis))
                                  .filter(endsBefore(millis + 1))
                                  .filter(f -> f.range(r -> r.term(t -> traces(t, cursor)))))))));
    }
    if (query.visible() != null) {
      // Documents have changed names of applications, which patterns cannot be compared with.
      filters.add(Query.of(q -> q.matchNone(none -> none)));
    }
    String application = query.application();
    ElasticsearchLayout.term(
        filters,
        OzheraDocument.APPLICATION,
        application == null ? null : OzheraDocument.serviceName(application));
    ElasticsearchLayout.term(filters, OzheraDocument.URL, query.operation());
    ElasticsearchLayout.term(
        filters,
        OzheraDocument.ERROR_TYPE,
        query.reason() == null ? null : OzheraDocument.errorType(query.reason()));
    return filters;
  }

  private static ObjectBuilder<TermRangeQuery> traces(TermRangeQuery.Builder range, Cursor cursor) {
    range.field(OzheraDocument.TRACE_ID);
    return cursor.spanId().equals(HIGHEST)
        ? range.gt(cursor.traceId())
        : range.gte(cursor.traceId());
  }

  private static long millis(long unixNanos) {
    return NANOSECONDS.toMillis(unixNanos);
  }

  private static Query endsFrom(long millis) {
    return Query.of(q ->
        q.range(r -> r.date(d -> d.field(OzheraDocument.TIMESTAMP).gte(Long.toString(millis)))));
  }

  private static Query endsBefore(long millis) {
    return Query.of(q ->
        q.range(r -> r.date(d -> d.field(OzheraDocument.TIMESTAMP).lt(Long.toString(millis)))));
  }

  /** A position in the order of results. */
  private record Place(long endMillis, String traceId, String spanId) implements Comparable<Place> {
    private static final Comparator<Place> ORDER =
        Comparator.comparingLong(Place::endMillis)
            .reversed()
            .thenComparing(Place::traceId)
            .thenComparing(Place::spanId);

    private static Place of(Hit<JsonNode> hit, String spanId) {
      JsonNode json = hit.source();
      return new Place(
          OzheraDocument.endMillis(json), json.path(OzheraDocument.TRACE_ID).asString(), spanId);
    }

    private static Place of(Cursor cursor) {
      return new Place(millis(cursor.startUnixNanos()), cursor.traceId(), cursor.spanId());
    }

    private Cursor cursor() {
      return new Cursor(MILLISECONDS.toNanos(endMillis), traceId, spanId);
    }

    private boolean isTogetherWith(Place other) {
      return endMillis == other.endMillis && traceId.equals(other.traceId);
    }

    @Override
    public int compareTo(Place other) {
      return ORDER.compare(this, other);
    }
  }

  private record Found(Place place, TraceDocument document) {}

  @Override
  public TracePage page(TraceQuery query, List<Hit<JsonNode>> hits) {
    boolean isEnd = hits.size() < asked(query);
    Place before = query.cursor() == null ? null : Place.of(query.cursor());
    // Documents with the key of the last one may be incomplete: they belong to the next page.
    Place last = isEnd ? null : Place.of(hits.getLast(), LOWEST);
    boolean cuts = !isEnd && !last.isTogetherWith(Place.of(hits.getFirst(), LOWEST));
    List<Found> found = new ArrayList<>();
    for (Hit<JsonNode> hit : hits) {
      String spanId = OzheraDocument.spanId(hit.id());
      if (spanId == null) {
        continue;
      }
      Place place = Place.of(hit, spanId);
      if ((before == null || place.compareTo(before) > 0)
          && !(cuts && place.isTogetherWith(last))) {
        found.add(new Found(place, OzheraDocument.fromJson(hit.source(), spanId)));
      }
    }
    found.sort(Comparator.comparing(Found::place));
    Place next = null;
    if (found.size() > query.limit()) {
      found = found.subList(0, query.limit());
      next = found.getLast().place();
    } else if (!isEnd) {
      next = cuts ? last : Place.of(hits.getLast(), HIGHEST);
    }
    return new TracePage(
        found.stream().map(Found::document).toList(), next == null ? null : next.cursor());
  }
}
