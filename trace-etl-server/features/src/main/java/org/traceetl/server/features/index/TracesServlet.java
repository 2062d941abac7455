package org.traceetl.server.features.index;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.http.JsonServlet;
import org.traceetl.server.http.Parameters;
import org.traceetl.server.http.Refusal;
import org.traceetl.server.window.TraceDocument;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code GET /api/traces}: spans that were slow, failed, or are exemplars; newest first. */
final class TracesServlet extends JsonServlet {
  static final String PATH = "/api/traces";

  private static final long serialVersionUID = 1L;
  private static final Logger log = LoggerFactory.getLogger(TracesServlet.class);
  private static final int DEFAULT_LIMIT = 100;
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long NANOS_PER_SECOND = 1_000_000_000;
  private static final int MILLI_DIGITS = 6;
  private static final String[] STATUSES = {"UNSET", "OK", "ERROR"};
  private static final Set<String> PARAMETERS =
      Set.of(
          "application",
          "operation",
          "reason",
          "from",
          "to",
          "limit",
          "slices",
          "cursor",
          "format");
  private static final String CSV = "csv";
  private static final int MAX_SLICES = 60;

  /** All headers of an answer have 8 KiB. */
  private static final int MAX_LINK = 4_000;

  private static final List<String> FORMATS = List.of("json", CSV);
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

  private final transient TraceIndex index;

  TracesServlet(TraceIndex index) {
    super(PARAMETERS);
    this.index = index;
  }

  @Override
  protected void answer(Parameters given, JsonGenerator out) {
    out.writeTree(json(search(given)));
  }

  private TracePage search(Parameters given) {
    TraceQuery query = query(given);
    int slices = given.number("slices", MAX_SLICES, 1);
    if (slices > 1) {
      checkSlices(given, slices, query.limit());
    }
    try {
      return slices > 1 ? index.search(query, slices) : index.search(query);
    } catch (IOException e) {
      log.warn("A search in the trace index failed: {}", e.toString());
      throw new Refusal(
          HttpServletResponse.SC_SERVICE_UNAVAILABLE,
          "the trace index did not answer; try again later");
    }
  }

  /**
   * @throws IllegalArgumentException saying which parameter, which value, and what would be right
   */
  private static TraceQuery query(Parameters given) {
    String cursor = given.text("cursor");
    return new TraceQuery(
        given.text("application"),
        given.text("operation"),
        reason(given.text("reason")),
        time("from", given.text("from"), 0),
        time("to", given.text("to"), Long.MAX_VALUE),
        given.number("limit", TraceQuery.MAX_LIMIT, DEFAULT_LIMIT),
        cursor == null ? null : Cursor.parse(cursor));
  }

  private static void checkSlices(Parameters given, int slices, int limit) {
    if (given.text("from") == null || given.text("to") == null) {
      throw new IllegalArgumentException(
          "slices = " + slices + ": must come with from and to, the time that they divide");
    }
    if (given.text("cursor") != null) {
      throw new IllegalArgumentException(
          "slices = " + slices + ": must not come with cursor, which follows a list by its time");
    }
    if (slices * limit > TraceQuery.MAX_LIMIT) {
      throw new IllegalArgumentException(
          "slices = "
              + slices
              + ": must be at most "
              + TraceQuery.MAX_LIMIT
              + " with limit together:"
              + " slices * limit = "
              + slices * limit);
    }
  }

  private static TraceDocument.Reason reason(String text) {
    if (text == null) {
      return null;
    }
    for (TraceDocument.Reason reason : TraceDocument.Reason.values()) {
      if (reason.label().equals(text)) {
        return reason;
      }
    }
    throw new IllegalArgumentException(
        "reason = "
            + text
            + ": must be one of "
            + Arrays.stream(TraceDocument.Reason.values())
                .map(TraceDocument.Reason::label)
                .collect(Collectors.joining(", ")));
  }

  private static long time(String name, String text, long otherwise) {
    if (text == null) {
      return otherwise;
    }
    try {
      if (text.chars().allMatch(c -> c >= '0' && c <= '9')) {
        return Math.multiplyExact(Long.parseLong(text), NANOS_PER_MILLI);
      }
      Instant instant = OffsetDateTime.parse(text).toInstant();
      return Math.addExact(
          Math.multiplyExact(instant.getEpochSecond(), NANOS_PER_SECOND), instant.getNano());
    } catch (DateTimeException | ArithmeticException | NumberFormatException e) {
      throw new IllegalArgumentException(
          name
              + " = "
              + text
              + ": must be a time as RFC 3339 (2026-11-21T10:00:00Z) or milliseconds since 1970",
          e);
    }
  }

  @Override
  protected void answer(Parameters given, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    if (!given.choice("format", FORMATS, "json").equals(CSV)) {
      super.answer(given, request, response);
      return;
    }
    TracePage page = search(given);
    byte[] body = csv(page).getBytes(StandardCharsets.UTF_8);
    if (page.next() != null) {
      String next = given.with("cursor", page.next().toText());
      if (next.length() <= MAX_LINK) {
        response.setHeader("Link", "<" + PATH + "?" + next + ">; rel=\"next\"");
      }
    }
    response.setHeader("Cache-Control", "no-store");
    response.setHeader("Content-Disposition", "attachment; filename=\"traces.csv\"");
    response.setContentType("text/csv;charset=utf-8;header=present");
    response.setContentLength(body.length);
    response.getOutputStream().write(body);
  }

  private static String csv(TracePage page) {
    Csv csv = new Csv();
    csv.line(CSV_NAMES);
    for (TraceDocument document : page.documents()) {
      csv.line(
          Arrays.asList(
              document.traceId(),
              document.spanId(),
              document.application(),
              document.operation(),
              named(SpanKind.values(), document.kind()),
              named(STATUSES, document.status()),
              document.statusMessage(),
              start(document.startUnixNanos()).toString(),
              duration(document).toPlainString(),
              document.reason().label()));
    }
    return csv.toString();
  }

  private static BigDecimal duration(TraceDocument document) {
    return BigDecimal.valueOf(document.durationNanos(), MILLI_DIGITS);
  }

  private static ObjectNode json(TracePage page) {
    ObjectNode root = JSON.createObjectNode();
    ArrayNode traces = root.putArray("traces");
    for (TraceDocument document : page.documents()) {
      ObjectNode trace =
          traces
              .addObject()
              .put("traceId", document.traceId())
              .put("spanId", document.spanId())
              .put("application", document.application())
              .put("operation", document.operation())
              .put("kind", named(SpanKind.values(), document.kind()))
              .put("status", named(STATUSES, document.status()))
              .put("statusMessage", document.statusMessage())
              .put("start", start(document.startUnixNanos()).toString())
              .put("durationMillis", duration(document))
              .put("reason", document.reason().label());
      ObjectNode attributes = trace.putObject("attributes");
      document.attributes().forEach(attributes::put);
    }
    root.put("next", page.next() == null ? null : page.next().toText());
    return root;
  }

  private static Instant start(long unixNanos) {
    return Instant.ofEpochSecond(
        Math.floorDiv(unixNanos, NANOS_PER_SECOND), Math.floorMod(unixNanos, NANOS_PER_SECOND));
  }

  private static String named(Object[] names, int number) {
    return (number >= 0 && number < names.length ? names[number] : names[0]).toString();
  }
}
