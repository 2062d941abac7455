package org.traceetl.server.features.history;

import static java.util.Comparator.comparing;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.Csv;
import org.traceetl.server.http.ParameterRefused;
import org.traceetl.server.http.Times;
import org.traceetl.server.minutes.LastHour;

/** What tenants used in whole minutes of the last hour, on all servers. */
@RestController
final class UsageResource {
  private static final long MINUTE_NANOS = LastHour.MINUTE_MILLIS * 1_000_000;
  private static final int MILLI_DIGITS = 3;

  /** Minutes before the current one whose windows may not be in the journal yet. */
  private static final int UNSETTLED = 1;

  private static final List<String> NAMES =
      List.of(
          "from", "to", "tenant", "application", "spans", "bytes", "seriesSeconds", "documents");

  private final History history;

  /**
   * @param history null if it is disabled
   */
  UsageResource(History history) {
    this.history = history;
  }

  private record Row(String tenant, Usage usage) {}

  /** Lists the usage of each visible tenant's applications, with an empty tenant for the rest. */
  @GetMapping("/api/usage.csv")
  ResponseEntity<byte[]> usage(
      @RequestParam(required = false) String from,
      @RequestParam(required = false) String to,
      Access access) {
    History kept = HistoryResource.kept(history);
    if (!kept.upToDate()) {
      throw new ResponseStatusException(
          HttpStatus.SERVICE_UNAVAILABLE,
          "this server is still reading the last hour; try again later");
    }
    long now = kept.minute();
    long oldest = now - History.MINUTES + 1;
    long newest = now - UNSETTLED;
    long begin = minute("from", from, oldest, newest, oldest);
    long end = minute("to", to, oldest, newest, newest);
    if (begin >= end) {
      throw new ParameterRefused("from = " + from + ": must be before to = " + start(end));
    }
    Csv csv = new Csv();
    csv.line(NAMES);
    kept.usage(begin, end - 1).stream()
        .map(usage -> new Row(access.tenantOf(usage.application()), usage))
        .filter(row -> row.tenant != null)
        .sorted(comparing(Row::tenant).thenComparing(row -> row.usage.application()))
        .forEach(row ->
            csv.line(
                List.of(
                    start(begin).toString(),
                    start(end).toString(),
                    row.tenant,
                    row.usage.application(),
                    Long.toString(row.usage.spans()),
                    Long.toString(row.usage.bytes()),
                    BigDecimal.valueOf(row.usage.seriesMillis(), MILLI_DIGITS).toPlainString(),
                    Long.toString(row.usage.documents()))));
    return new ResponseEntity<>(csv.toBytes(), Csv.headers("usage.csv"), HttpStatus.OK);
  }

  private static long minute(String name, String text, long oldest, long newest, long otherwise) {
    if (text == null) {
      return otherwise;
    }
    long nanos = Times.unixNanos(name, text, 0);
    long minute = Math.floorDiv(nanos, MINUTE_NANOS);
    if (nanos % MINUTE_NANOS != 0 || minute < oldest || minute > newest) {
      throw new ParameterRefused(
          name
              + " = "
              + text
              + ": must be the start of a minute from "
              + start(oldest)
              + " to "
              + start(newest));
    }
    return minute;
  }

  private static Instant start(long minute) {
    return Instant.ofEpochMilli(minute * LastHour.MINUTE_MILLIS);
  }
}
