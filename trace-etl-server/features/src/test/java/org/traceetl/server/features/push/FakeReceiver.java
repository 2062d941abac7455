package org.traceetl.server.features.push;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;

/**
 * A receiver with Prometheus' rules: a series takes only samples newer than its newest one, and an
 * equal repeat of that one. Of a request of version 2.0 with other samples it writes the rest; one
 * of version 1.0 or of OTLP it refuses as a whole, unless it knows partial success.
 */
final class FakeReceiver implements WriteTransport {
  /** How it behaves in its next requests. */
  enum Fault {
    /** Writes and answers. */
    NONE,
    /** Answers 503 without writing. */
    UNAVAILABLE,
    /** Answers 429 with Retry-After, without writing. */
    BUSY,
    /** Answers 401 without writing. */
    UNAUTHORIZED,
    /** Writes, and the answer is lost. */
    LOST_ANSWER,
    /** Cannot be reached. */
    UNREACHABLE
  }

  /** Which versions it knows. */
  enum Knowledge {
    BOTH,
    /** Refuses the type of 2.0. */
    V1_BY_TYPE,
    /** Ignores the type: reads a request of 2.0 as an empty one of 1.0. */
    V1_BY_IGNORANCE,
    /** Answers 400 to requests of 2.0. */
    V1_BY_ERROR,
    /** Reads all requests as OTLP. */
    OTLP,
    /** As well, and writes the points of a request that it accepts. */
    OTLP_PARTIAL,
    /** Reads all requests as deltas of OTLP, and drops points that are not newer than the last. */
    OTLP_DELTA
  }

  static final int RETRY_AFTER_MILLIS = 7_000;

  private final Knowledge knowledge;
  private final Queue<Fault> faults = new ArrayDeque<>();

  /** By labels, the samples in order of time: {@code value@time}; deltas with their start. */
  final Map<String, List<String>> written = new TreeMap<>();

  private final Map<String, Long> newest = new HashMap<>();
  final List<Protocol> protocols = new ArrayList<>();

  /** Series with this text in a label are refused for good. */
  String refused = "\0";

  /** Requests with more series than this are too large. */
  int maxSeries = Integer.MAX_VALUE;

  FakeReceiver(Knowledge knowledge) {
    this.knowledge = knowledge;
  }

  void fault(Fault... next) {
    faults.addAll(List.of(next));
  }

  /** Sets the fault of the next request. */
  void nextFault(Fault next) {
    faults.clear();
    faults.add(next);
  }

  @Override
  public Answer send(Protocol protocol, byte[] body, int length) throws IOException {
    protocols.add(protocol);
    Fault fault = faults.isEmpty() ? Fault.NONE : faults.remove();
    switch (fault) {
      case UNREACHABLE -> throw new IOException("connection refused");
      case UNAVAILABLE -> {
        return answer(503, "try later", 0);
      }
      case BUSY -> {
        return answer(429, "slow down", RETRY_AFTER_MILLIS);
      }
      case UNAUTHORIZED -> {
        return answer(401, "no", 0);
      }
      default -> {}
    }
    Answer answer = protocol == Protocol.V2 ? receiveV2(body, length) : receiveOther(body, length);
    if (fault == Fault.LOST_ANSWER) {
      throw new IOException("connection reset");
    }
    return answer;
  }

  private static Answer answer(int status, String text, long retryAfterMillis) {
    return new Answer(status, UNKNOWN, UNKNOWN, retryAfterMillis, text);
  }

  private Answer receiveV2(byte[] body, int length) {
    switch (knowledge) {
      case V1_BY_TYPE -> {
        return answer(415, "unsupported", 0);
      }
      case V1_BY_IGNORANCE -> {
        return answer(204, "", 0);
      }
      case V1_BY_ERROR -> {
        return answer(400, "cannot decode", 0);
      }
      default -> {}
    }
    List<WriteMessages.Series> all = WriteMessages.readV2(WriteMessages.decompress(body, length));
    if (all.size() > maxSeries) {
      return answer(413, "too large", 0);
    }
    int count = 0;
    String problem = null;
    for (WriteMessages.Series series : all) {
      String problemOf = problem(series);
      if (problemOf == null) {
        write(series);
        count++;
      } else {
        problem = problemOf;
      }
    }
    return new Answer(problem == null ? 204 : 400, count, 0, 0, problem == null ? "" : problem);
  }

  private Answer receiveOther(byte[] body, int length) {
    if (knowledge == Knowledge.OTLP_DELTA) {
      OtlpMessages.readDeltas(OtlpMessages.decompress(body, length)).forEach(this::write);
      return answer(200, "", 0);
    }
    boolean isOtlp = knowledge == Knowledge.OTLP || knowledge == Knowledge.OTLP_PARTIAL;
    List<WriteMessages.Series> all =
        isOtlp
            ? OtlpMessages.read(OtlpMessages.decompress(body, length))
            : WriteMessages.readV1(WriteMessages.decompress(body, length));
    if (all.size() > maxSeries) {
      return answer(413, "too large", 0);
    }
    int rejected = 0;
    String reason = "";
    for (WriteMessages.Series series : all) {
      String problem = problem(series);
      if (problem != null && knowledge != Knowledge.OTLP_PARTIAL) {
        return answer(400, problem, 0);
      }
      if (problem != null) {
        rejected++;
        reason = problem;
      }
    }
    all.stream().filter(series -> problem(series) == null).forEach(this::write);
    return new Answer(isOtlp ? 200 : 204, UNKNOWN, UNKNOWN, rejected, 0, reason);
  }

  private String problem(WriteMessages.Series series) {
    String labels = series.labels().toString();
    if (labels.contains(refused)) {
      return "label value too long";
    }
    String sample = sample(series);
    long at = at(sample);
    long last = newest.getOrDefault(labels, Long.MIN_VALUE);
    if (at < last) {
      return "out of order sample";
    }
    return at == last && !written.get(labels).getLast().equals(sample)
        ? "duplicate sample for timestamp"
        : null;
  }

  private void write(WriteMessages.Series series) {
    String labels = series.labels().toString();
    String sample = sample(series);
    if (newest.getOrDefault(labels, Long.MIN_VALUE) < at(sample)) {
      newest.put(labels, at(sample));
      written
          .computeIfAbsent(labels, absent -> new ArrayList<>())
          .add(knowledge == Knowledge.OTLP_DELTA ? series.values().getFirst() : sample);
    }
  }

  private static String sample(WriteMessages.Series series) {
    return series.values().getFirst().replaceFirst(">.*", "");
  }

  private static long at(String sample) {
    return Long.parseLong(sample.substring(sample.indexOf('@') + 1));
  }

  @Override
  public void close() {
    // Nothing is open.
  }
}
