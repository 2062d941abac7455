package org.traceetl.server.features.preview;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.common.TlsRefused;
import org.traceetl.server.http.Allowed;
import org.traceetl.server.http.Caller;
import org.traceetl.server.http.ParameterRefused;
import org.traceetl.server.http.Runs;

/**
 * Compares rules with those in force. The rules are in the body, whose content type no page of
 * another site can send: browsers ask first, and get no permission.
 */
@RestController
final class PreviewResource {
  private static final Logger log = LoggerFactory.getLogger(PreviewResource.class);

  private static final Pattern SINCE = Pattern.compile("([1-9]\\d{0,5})([smhd])");
  private static final int MAX_SINCE = 10;
  private static final String RETRY_AFTER_SECONDS = "10";

  /** The longest time in which a body must arrive. */
  private static final Duration BODY_WITHIN = Duration.ofSeconds(20);

  private static final int BUFFER_BYTES = 8_192;

  private final PreviewFeature.Comparer comparer;
  private final int maxBytes;
  private final Runs<RulesComparison> runs;
  private final Clocks clocks;

  PreviewResource(
      PreviewFeature.Comparer comparer, int maxBytes, Runs<RulesComparison> runs, Clocks clocks) {
    this.comparer = comparer;
    this.maxBytes = maxBytes;
    this.runs = runs;
    this.clocks = clocks;
  }

  @PostMapping(path = "/api/preview", consumes = "application/yaml")
  RulesComparison preview(
      @RequestParam @Allowed(max = Allowed.NAME) String application,
      @RequestParam(defaultValue = "1h") @Allowed(max = MAX_SINCE) String since,
      HttpServletRequest request,
      HttpServletResponse response)
      throws IOException, InterruptedException {
    Duration age = age(since);
    if (!runs.tryBegin()) {
      response.setHeader("Retry-After", RETRY_AFTER_SECONDS);
      throw new ResponseStatusException(
          HttpStatus.TOO_MANY_REQUESTS,
          "this server runs a preview already, and one at a time; try again later");
    }
    byte[] rules = null;
    try {
      rules = body(request.getInputStream());
    } finally {
      if (rules == null) {
        runs.giveUp();
      }
    }
    RulesComparison comparison = compare(application, age, rules, Caller.of(request));
    if (comparison == null) {
      // Only a client that has sent more than its request receives it.
      response.setStatus(HttpStatus.BAD_REQUEST.value());
    }
    return comparison;
  }

  private static Duration age(String since) {
    Matcher number = SINCE.matcher(since);
    if (!number.matches()) {
      throw new ParameterRefused(
          "since = " + since + ": must be a duration of 1s or more, such as 30m, 6h or 1d");
    }
    int amount = Integer.parseInt(number.group(1));
    return switch (number.group(2)) {
      case "s" -> Duration.ofSeconds(amount);
      case "m" -> Duration.ofMinutes(amount);
      case "h" -> Duration.ofHours(amount);
      default -> Duration.ofDays(amount);
    };
  }

  private byte[] body(InputStream in) throws IOException {
    long beginNanos = clocks.nanos();
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    byte[] buffer = new byte[BUFFER_BYTES];
    for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
      body.write(buffer, 0, read);
      if (body.size() > maxBytes) {
        throw new ResponseStatusException(
            HttpStatus.CONTENT_TOO_LARGE, "the body must have at most " + maxBytes + " bytes");
      }
      if (clocks.nanos() - beginNanos > BODY_WITHIN.toNanos()) {
        throw new ResponseStatusException(
            HttpStatus.REQUEST_TIMEOUT,
            "the body must arrive within " + BODY_WITHIN.toSeconds() + " s");
      }
    }
    return body.toByteArray();
  }

  /** Returns null if the caller is gone. */
  private RulesComparison compare(String application, Duration since, byte[] rules, Caller caller)
      throws InterruptedException {
    try {
      return runs.run(() -> comparer.compare(application, since, rules), caller);
    } catch (CancellationException e) {
      throw new ResponseStatusException(
          HttpStatus.SERVICE_UNAVAILABLE, "the server stops; ask another one", e);
    } catch (ExecutionException e) {
      throw refused(e.getCause());
    }
  }

  private static RuntimeException refused(Throwable cause) {
    return switch (cause) {
      case ConfigException e -> new ParameterRefused(e.getMessage(), e);
      case NoSpans e -> new ResponseStatusException(HttpStatus.NOT_FOUND, e.getMessage(), e);
      case IOException e -> unreadable(e);
      case TlsRefused e -> unreadable(e);
      default -> new IllegalStateException("A preview failed", cause);
    };
  }

  private static ResponseStatusException unreadable(Exception e) {
    log.warn("Could not read the messages of a preview: {}", e.toString());
    return new ResponseStatusException(
        HttpStatus.SERVICE_UNAVAILABLE, "the spans cannot be read; try again later", e);
  }
}
