package org.traceetl.server.features.push;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.Reason;
import org.traceetl.server.log.Printable;

/**
 * What the answers of an endpoint mean, its protocol, and its counts. Answers of OTLP mean the same
 * as those of Remote Write 1.0, except that they may reject a part of the points. Thread-safe.
 */
final class EndpointState {
  /** What becomes of a request. */
  enum Verdict {
    WRITTEN,
    /** The receiver has it, except samples that it will never accept. */
    REFUSED,
    /** The receiver has nothing of it, because of some of its samples or because of its size. */
    HALVE,
    /** Send it again in the version that is now in use. */
    OTHER_VERSION,
    /** Send it again later. */
    AGAIN
  }

  private static final Logger log = LoggerFactory.getLogger(EndpointState.class);

  /** Maximum length of a receiver's text in a log line. */
  private static final int MAX_TEXT = 300;

  private static final int OK = 200;
  private static final int FIRST_REDIRECT = 300;
  private static final int FIRST_CLIENT_ERROR = 400;
  private static final int FIRST_SERVER_ERROR = 500;
  private static final int BAD_REQUEST = 400;
  private static final int TOO_LARGE = 413;
  private static final int UNSUPPORTED_TYPE = 415;

  private final String name;
  private final boolean isAutomatic;
  private final LongSupplier millis;
  private final LogThrottle awayLog;
  private final LogThrottle refusedLog;

  private volatile Protocol protocol;

  /** Whether an answer was one of version 2.0. */
  private volatile boolean knowsV2;

  /** Whether a request was accepted. */
  private final AtomicBoolean accepted = new AtomicBoolean();

  private volatile boolean away;
  private volatile long lastErrorMillis;

  private final LongAdder samples = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder retries = new LongAdder();
  private final Map<String, LongAdder> requests = new ConcurrentHashMap<>();
  private final Map<RefusalReason, LongAdder> refused = new ConcurrentHashMap<>();

  /**
   * @param fixed the protocol to use; null: Remote Write 2.0, and 1.0 if the receiver does not
   *     accept that
   */
  EndpointState(String name, Protocol fixed, Clocks clocks) {
    this.name = name;
    isAutomatic = fixed == null;
    protocol = isAutomatic ? Protocol.V2 : fixed;
    millis = clocks.wall()::millis;
    awayLog = new LogThrottle(clocks.wall());
    refusedLog = new LogThrottle(clocks.wall());
    for (RefusalReason reason : RefusalReason.values()) {
      refused.put(reason, new LongAdder());
    }
  }

  /** Returns the protocol of the next request. */
  Protocol protocol() {
    return protocol;
  }

  /** Counts a request that was answered. */
  void sent(int status, int length) {
    bytes.add(length);
    requests.computeIfAbsent(Integer.toString(status), absent -> new LongAdder()).increment();
  }

  /**
   * Returns what becomes of a request.
   *
   * @param sent the request's protocol
   * @param entries series in the request
   */
  Verdict judge(Protocol sent, WriteTransport.Answer answer, int entries) {
    int status = answer.status();
    boolean isV2 = sent == Protocol.V2;
    if (isV2 && answer.saysWritten()) {
      knowsV2 = true;
    }
    if (status >= OK && status < FIRST_REDIRECT) {
      if (isV2 && !answer.saysWritten() && isAutomatic) {
        // The receiver knows only 1.0, to which the request looks empty.
        return fallBack(answer);
      }
      back();
      return Verdict.WRITTEN;
    }
    if (status == UNSUPPORTED_TYPE && isAutomatic) {
      return isV2 ? fallBack(answer) : Verdict.AGAIN;
    }
    if (isOfEndpoint(status)) {
      return Verdict.AGAIN;
    }
    if (isV2 && isAutomatic && !knowsV2 && status == BAD_REQUEST && !answer.saysWritten()) {
      return fallBack(answer);
    }
    back();
    boolean hasRest = isV2 && answer.saysWritten() && status != TOO_LARGE;
    return hasRest || entries == 1 ? Verdict.REFUSED : Verdict.HALVE;
  }

  /**
   * Returns whether a status says nothing about the samples. Those of permission and address are
   * such ones: an operator repairs them, and meanwhile the samples stay in the journal.
   */
  private static boolean isOfEndpoint(int status) {
    return switch (status) {
      case 401, 403, 404, 405, 407, 408, 415, 421, 425, 426, 429 -> true;
      default -> status < FIRST_CLIENT_ERROR || status >= FIRST_SERVER_ERROR;
    };
  }

  private synchronized Verdict fallBack(WriteTransport.Answer answer) {
    if (protocol == Protocol.V2) {
      protocol = Protocol.V1;
      log.info(
          "Push endpoint {} does not accept Remote Write 2.0 and gets 1.0, without start"
              + " timestamps: status={} answer={}",
          name,
          answer.status(),
          Printable.of(answer.text(), MAX_TEXT));
    }
    return Verdict.OTHER_VERSION;
  }

  /** Counts a request that was accepted. */
  void written(int ofRequest, Protocol sent, WriteTransport.Answer answer) {
    int said = saidWritten(ofRequest, answer);
    if (accepted.compareAndSet(false, true)) {
      log.info(
          "Push endpoint {} accepted the first request: protocol={} samples={}",
          name,
          sent.label,
          said);
    }
    count(ofRequest, said, answer);
  }

  /** Counts a request of which the receiver refused samples for good. */
  void refused(int ofRequest, Protocol sent, WriteTransport.Answer answer) {
    boolean says = sent == Protocol.V2 && answer.saysWritten();
    count(ofRequest, says ? saidWritten(ofRequest, answer) : 0, answer);
  }

  private void count(int ofRequest, int written, WriteTransport.Answer answer) {
    samples.add(written);
    if (written == ofRequest) {
      return;
    }
    RefusalReason reason = RefusalReason.of(answer);
    refused.get(reason).add(ofRequest - written);
    lastErrorMillis = millis.getAsLong();
    if (refusedLog.permits()) {
      log.warn(
          "Push endpoint {} refused samples, which are not sent again; after a restart it"
              + " refuses repeats that it already has: samples={} of={} reason={} status={}"
              + " answer={}",
          name,
          ofRequest - written,
          ofRequest,
          reason.label(),
          answer.status(),
          Printable.of(answer.text(), MAX_TEXT));
    }
  }

  private static int saidWritten(int ofRequest, WriteTransport.Answer answer) {
    if (!answer.saysWritten()) {
      return ofRequest - Math.clamp(answer.rejected(), 0, ofRequest);
    }
    long said = Math.max(0L, answer.samples()) + Math.max(0L, answer.histograms());
    return (int) Math.min(ofRequest, said);
  }

  /** Reports a request without an answer. */
  void failed(IOException failure) {
    requests.computeIfAbsent("none", absent -> new LongAdder()).increment();
    away(Reason.of(failure));
  }

  /** Reports an answer after which the request is sent again. */
  void away(WriteTransport.Answer answer) {
    away("status " + answer.status() + " " + Printable.of(answer.text(), MAX_TEXT));
  }

  private void away(String reason) {
    away = true;
    lastErrorMillis = millis.getAsLong();
    if (awayLog.permits()) {
      log.warn(
          "Push endpoint {} does not accept requests; samples stay in the journal and are"
              + " sent again: {}",
          name,
          reason);
    }
  }

  private void back() {
    if (away) {
      away = false;
      if (accepted.get()) {
        log.info("Push endpoint {} accepts requests again", name);
      }
    }
  }

  /** Counts a request that is sent again, or in parts. */
  void retried() {
    retries.increment();
  }

  /** Returns the counts so far. */
  EndpointTelemetry telemetry() {
    Map<String, Long> byStatus = new TreeMap<>();
    requests.forEach((status, count) -> byStatus.put(status, count.sum()));
    Map<String, Long> byReason = new TreeMap<>();
    refused.forEach((reason, count) -> byReason.put(reason.label(), count.sum()));
    return new EndpointTelemetry(
        samples.sum(), bytes.sum(), retries.sum(), byStatus, byReason, lastErrorMillis, !away);
  }
}
