package org.traceetl.server.features.why;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.traceetl.common.TlsRefused;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.features.why.WhyFeature.Result;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.Allowed;
import org.traceetl.server.http.Caller;
import org.traceetl.server.http.ParameterRefused;
import org.traceetl.server.http.Runs;
import org.traceetl.server.http.Times;

/** What slow or failed spans have in common. A request stops if its client is gone. */
@RestController
final class WhyResource {
  private static final Logger log = LoggerFactory.getLogger(WhyResource.class);

  private static final Pattern DURATION = Pattern.compile("([1-9]\\d{0,8})(us|ms|s|m|h|d)");
  private static final int MAX_DURATION = 11;
  private static final Duration LONGEST = Duration.ofDays(3_650);
  private static final int MAX_KIND = 100;

  /** Before a kind in series. */
  private static final String KIND = "SPAN_KIND_";

  private static final String REST = "rest";

  /** Values of {@code Sec-Fetch-Site}: of this page, or of an address that a person entered. */
  private static final Set<String> OWN_SITES = Set.of("same-origin", "none");

  private static final Duration INTERVAL = Duration.ofMinutes(10);
  private static final String RETRY_AFTER_SECONDS = "5";

  private final Why why;
  private final Runs<WhyAnswer> runs;
  private final InstantSource clock;
  private final Consumer<Result> results;

  WhyResource(Why why, Runs<WhyAnswer> runs, InstantSource clock, Consumer<Result> results) {
    this.why = why;
    this.runs = runs;
    this.clock = clock;
    this.results = results;
  }

  @GetMapping("/api/why")
  WhyAnswer why(
      @RequestParam @Allowed(max = Allowed.NAME) String application,
      @RequestParam(required = false) @Allowed(max = Allowed.NAME) String operation,
      @RequestParam(required = false) @Allowed(max = MAX_KIND) String kind,
      @RequestParam(defaultValue = "false") boolean failed,
      @RequestParam(required = false) @Allowed(max = MAX_DURATION) String slowerThan,
      @RequestParam(required = false) String from,
      @RequestParam(required = false) String to,
      @RequestParam(defaultValue = REST) @Allowed(max = MAX_DURATION) String baseline,
      Access access,
      HttpServletRequest request,
      HttpServletResponse response)
      throws InterruptedException {
    // An element of a page of another site, such as an image, sends a GET too.
    String site = request.getHeader("Sec-Fetch-Site");
    if (site != null && !OWN_SITES.contains(site)) {
      throw new ResponseStatusException(
          HttpStatus.FORBIDDEN, "a page of another site must not ask; open the address itself");
    }
    Instant until = time("to", to, clock.instant());
    Question question =
        new Question(
            application,
            operation,
            kind == null ? null : kind(kind),
            failed,
            slowerThan == null ? 0 : duration("slowerThan", slowerThan).toNanos(),
            time("from", from, until.minus(INTERVAL)),
            until,
            baseline.equals(REST) ? null : duration("baseline", baseline));
    check(question, baseline);
    if (!access.sees(application)) {
      // Whether it has spans or not: a name that the sender may not see is not looked for.
      throw new ResponseStatusException(
          HttpStatus.NOT_FOUND,
          "application = " + application + ": is none of those that you may see");
    }
    Caller caller = Caller.of(request);
    if (!runs.tryBegin(access.place(), caller)) {
      results.accept(Result.BUSY);
      response.setHeader("Retry-After", RETRY_AFTER_SECONDS);
      throw new ResponseStatusException(
          HttpStatus.TOO_MANY_REQUESTS,
          "this server is answering another request of /api/why"
              + (access.isToAll() ? "" : " of yours")
              + ", one at a time; try again in "
              + RETRY_AFTER_SECONDS
              + " s");
    }
    WhyAnswer answer = answer(question, caller, access);
    results.accept(answer == null ? Result.CANCELLED : Result.ANSWERED);
    if (answer == null) {
      // Only a client that has sent more than its request receives it.
      response.setStatus(HttpStatus.BAD_REQUEST.value());
    }
    return answer == null || access.isToAll() ? answer : answer.withoutMessages();
  }

  @GetMapping("/api/why/progress")
  Why.Progress progress() {
    return why.progress();
  }

  private static void check(Question question, String baseline) {
    if (!question.from().isBefore(question.until())) {
      throw new ParameterRefused(
          "from = " + question.from() + ": must be before to = " + question.until());
    }
    if (question.earlier() == null && !question.failed() && question.slowerThanNanos() == 0) {
      throw new ParameterRefused(
          "baseline = rest: requires failed or slowerThan; otherwise no span is left to compare");
    }
    if (question.earlier() != null
        && question.earlier().compareTo(Duration.between(question.from(), question.until())) < 0) {
      throw new ParameterRefused(
          "baseline = "
              + baseline
              + ": must be at least "
              + Duration.between(question.from(), question.until()).plusMillis(999).toSeconds()
              + "s, which is `to` - `from`, or the intervals overlap");
    }
  }

  private static Instant time(String name, String text, Instant otherwise) {
    return text == null ? otherwise : Instant.ofEpochSecond(0, Times.unixNanos(name, text, 0));
  }

  private static SpanKind kind(String text) {
    try {
      String name = text.toUpperCase(Locale.ROOT);
      return SpanKind.valueOf(name.startsWith(KIND) ? name.substring(KIND.length()) : name);
    } catch (IllegalArgumentException e) {
      throw new ParameterRefused(
          "kind = "
              + text
              + ": must be one of "
              + String.join(", ", Arrays.stream(SpanKind.values()).map(SpanKind::name).toList()),
          e);
    }
  }

  private static Duration duration(String name, String text) {
    Matcher number = DURATION.matcher(text);
    if (!number.matches()) {
      throw new ParameterRefused(
          name + " = " + text + ": must be a duration, such as 500us, 250ms, 2s, 1h or 1d");
    }
    long amount = Long.parseLong(number.group(1));
    Duration duration =
        switch (number.group(2)) {
          case "us" -> Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(amount));
          case "ms" -> Duration.ofMillis(amount);
          case "s" -> Duration.ofSeconds(amount);
          case "m" -> Duration.ofMinutes(amount);
          case "h" -> Duration.ofHours(amount);
          default -> Duration.ofDays(amount);
        };
    if (duration.compareTo(LONGEST) > 0) {
      throw new ParameterRefused(
          name + " = " + text + ": must be at most " + LONGEST.toDays() + "d");
    }
    return duration;
  }

  /** Returns null if the caller is gone. */
  private WhyAnswer answer(Question question, Caller caller, Access access)
      throws InterruptedException {
    try {
      return runs.run(() -> why.answer(question), caller);
    } catch (CancellationException e) {
      results.accept(Result.CANCELLED);
      throw new ResponseStatusException(
          HttpStatus.SERVICE_UNAVAILABLE, "the server stops; ask another one", e);
    } catch (ExecutionException e) {
      results.accept(e.getCause() instanceof NoSpans ? Result.NO_SPANS : Result.FAILED);
      throw refused(e.getCause(), access);
    }
  }

  private static RuntimeException refused(Throwable cause, Access access) {
    return switch (cause) {
      case NoSpans e ->
          new ResponseStatusException(
              HttpStatus.NOT_FOUND, access.isToAll() ? e.getMessage() : e.withoutCounts(), e);
      case IOException e -> unreadable(e);
      case TlsRefused e -> unreadable(e);
      default -> new IllegalStateException("An answer failed", cause);
    };
  }

  private static ResponseStatusException unreadable(Exception e) {
    log.warn("Could not read the messages for /api/why: {}", e.toString());
    return new ResponseStatusException(
        HttpStatus.SERVICE_UNAVAILABLE, "the spans cannot be read; try again later", e);
  }
}
