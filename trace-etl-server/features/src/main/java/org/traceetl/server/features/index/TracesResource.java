package org.traceetl.server.features.index;

import java.io.IOException;
import java.math.BigDecimal;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.server.ResponseStatusException;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.Allowed;
import org.traceetl.server.http.Csv;
import org.traceetl.server.http.ParameterRefused;
import org.traceetl.server.http.Times;
import org.traceetl.server.window.TraceDocument;

/** Spans that were slow, failed, or are exemplars; newest first. */
@RestController
final class TracesResource {
  private static final Logger log = LoggerFactory.getLogger(TracesResource.class);
  private static final String PATH = "/api/traces";
  private static final int MILLI_DIGITS = 6;
  private static final String[] STATUSES = {"UNSET", "OK", "ERROR"};
  private static final int MAX_SLICES = 60;

  /** All headers of an answer have 8 KiB. */
  private static final int MAX_LINK = 4_000;

  private static final List<String> CSV_NAMES =
      List.of(
          "traceId",
          "spanId",
          "application",
          "operation",
          "kind",
          "status",
          "statusMessage",
          "start",
          "durationMillis",
          "reason");

  private final TraceIndex index;

  TracesResource(TraceIndex index) {
    this.index = index;
  }

  /** The formats of an answer. */
  enum Format {
    JSON,
    CSV
  }

  record Traces(List<Trace> traces, String next) {}

  record Trace(
      String traceId,
      String spanId,
      String application,
      String operation,
      String kind,
      String status,
      String statusMessage,
      Instant start,
      BigDecimal durationMillis,
      String reason,
      Map<String, String> attributes) {
    static Trace of(TraceDocument document) {
      return new Trace(
          document.traceId(),
          document.spanId(),
          document.application(),
          document.operation(),
          named(SpanKind.values(), document.kind()),
          named(STATUSES, document.status()),
          document.statusMessage(),
          Instant.ofEpochSecond(0, document.startUnixNanos()),
          BigDecimal.valueOf(document.durationNanos(), MILLI_DIGITS),
          document.reason().label(),
          document.attributes());
    }

    private static String named(Object[] names, int number) {
      return (number >= 0 && number < names.length ? names[number] : names[0]).toString();
    }
  }

  @GetMapping(PATH)
  ResponseEntity<?> traces(
      @RequestParam(required = false) String application,
      @RequestParam(required = false) String operation,
      @RequestParam(required = false) TraceDocument.Reason reason,
      @RequestParam(required = false) String from,
      @RequestParam(required = false) String to,
      @RequestParam(defaultValue = "100") @Allowed(max = TraceQuery.MAX_LIMIT) int limit,
      @RequestParam(defaultValue = "1") @Allowed(max = MAX_SLICES) int slices,
      @RequestParam(required = false) String cursor,
      @RequestParam(defaultValue = "json") Format format,
      Access access,
      WebRequest request) {
    long fromUnixNanos = Times.unixNanos("from", from, 0);
    long toUnixNanos = Times.unixNanos("to", to, Long.MAX_VALUE);
    if (fromUnixNanos > toUnixNanos) {
      throw new ParameterRefused(
          "from = " + from + ": must not be after to" + (to == null ? "" : " = " + to));
    }
    var query =
        new TraceQuery(
            application,
            operation,
            reason,
            fromUnixNanos,
            toUnixNanos,
            limit,
            cursor == null ? null : Cursor.parse(cursor),
            access.patterns());
    if (slices > 1) {
      checkSlices(slices, limit, from != null && to != null, cursor != null);
    }
    TracePage page =
        application == null || access.sees(application)
            ? visible(search(query, slices), access)
            : new TracePage(List.of(), null);
    List<Trace> traces = page.documents().stream().map(Trace::of).toList();
    String next = page.next() == null ? null : page.next().toText();
    return switch (format) {
      case JSON -> ResponseEntity.ok(new Traces(traces, next));
      case CSV -> csv(traces, next == null ? null : with(request, "cursor", next));
    };
  }

  /** Takes away what an index should not have found. A cursor names the last document. */
  private static TracePage visible(TracePage page, Access access) {
    List<TraceDocument> visible =
        page.documents().stream().filter(found -> access.sees(found.application())).toList();
    return visible.size() == page.documents().size() ? page : new TracePage(visible, null);
  }

  private TracePage search(TraceQuery query, int slices) {
    try {
      return slices > 1 ? index.search(query, slices) : index.search(query);
    } catch (IOException e) {
      log.warn("A search in the trace index failed: {}", e.toString());
      throw new ResponseStatusException(
          HttpStatus.SERVICE_UNAVAILABLE, "the trace index did not answer; try again later");
    }
  }

  private static void checkSlices(int slices, int limit, boolean range, boolean cursor) {
    if (!range) {
      throw new ParameterRefused(
          "slices = " + slices + ": requires from and to, the time range that the slices divide");
    }
    if (cursor) {
      throw new ParameterRefused("slices = " + slices + ": must be absent if cursor is given");
    }
    if (slices * limit > TraceQuery.MAX_LIMIT) {
      throw new ParameterRefused(
          "slices = "
              + slices
              + ": slices * limit must be at most "
              + TraceQuery.MAX_LIMIT
              + ", and is "
              + slices * limit);
    }
  }

  /** Returns the query of a request with a parameter replaced. */
  private static String with(WebRequest request, String name, String value) {
    Map<String, String[]> all = new TreeMap<>(request.getParameterMap());
    all.put(name, new String[] {value});
    return all.entrySet().stream()
        .map(one -> encoded(one.getKey()) + "=" + encoded(one.getValue()[0]))
        .collect(Collectors.joining("&"));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static ResponseEntity<byte[]> csv(List<Trace> traces, String next) {
    Csv csv = new Csv();
    csv.line(CSV_NAMES);
    for (Trace trace : traces) {
      csv.line(
          Arrays.asList(
              trace.traceId(),
              trace.spanId(),
              trace.application(),
              trace.operation(),
              trace.kind(),
              trace.status(),
              trace.statusMessage(),
              trace.start().toString(),
              trace.durationMillis().toPlainString(),
              trace.reason()));
    }
    HttpHeaders headers = Csv.headers("traces.csv");
    if (next != null && next.length() <= MAX_LINK) {
      headers.set(HttpHeaders.LINK, "<" + PATH + "?" + next + ">; rel=\"next\"");
    }
    return new ResponseEntity<>(csv.toBytes(), headers, HttpStatus.OK);
  }
}
