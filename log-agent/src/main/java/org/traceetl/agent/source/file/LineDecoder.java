package org.traceetl.agent.source.file;

import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.common.LogThrottle;

/** Splits chunks into lines and decodes them. Used on the pipeline's thread. */
final class LineDecoder {
  private static final Logger log = LoggerFactory.getLogger(LineDecoder.class);

  private static final String LINE_TOO_LONG = "line_too_long";

  private final int maxLineBytes;
  private final Intake intake;
  private final LogThrottle rejectedLog;
  private final TraceLineDecoder decoder = new TraceLineDecoder();
  // Null until traces are forwarded.
  private LineSpanEncoder encoder;

  LineDecoder(int maxLineBytes, Intake intake, LongSupplier nanoClock) {
    this.maxLineBytes = maxLineBytes;
    this.intake = intake;
    this.rejectedLog = new LogThrottle(nanoClock);
  }

  /**
   * Decodes complete lines.
   *
   * @param start offset of the first byte in the file
   */
  void decode(TailedFile file, long start, byte[] lines, int length, SpanSink sink) {
    decoder.startPayload();
    int from = 0;
    while (from < length) {
      int lineEnd = lineEnd(lines, from);
      int end = contentEnd(lines, from, lineEnd);
      if (end > from) {
        String problem =
            end - from > maxLineBytes ? LINE_TOO_LONG : decoder.decode(lines, from, end, sink);
        if (problem != null) {
          sink.rejected(problem);
          log(file, start + from, problem, lines, from, end);
        }
      }
      from = lineEnd + 1;
    }
  }

  /** Returns where the line ends. Payloads are complete lines. */
  static int lineEnd(byte[] lines, int from) {
    int at = from;
    while (lines[at] != '\n') {
      at++;
    }
    return at;
  }

  /** Returns where a line's content ends, which a carriage return may follow. */
  static int contentEnd(byte[] lines, int from, int lineEnd) {
    return lineEnd > from && lines[lineEnd - 1] == '\r' ? lineEnd - 1 : lineEnd;
  }

  /** Returns what encodes lines as OTLP. Called by the source's thread, used by another one. */
  LineSpanEncoder encoder() {
    if (encoder == null) {
      encoder = new LineSpanEncoder(maxLineBytes);
    }
    return encoder;
  }

  /** Counts the beginning of a line that is too long for a chunk. Called by any thread. */
  void rejectTooLong(TailedFile file, byte[] bytes, int length) {
    intake.reject(FileSource.NAME, LINE_TOO_LONG);
    log(file, file.position(), LINE_TOO_LONG, bytes, 0, length);
  }

  /** Counts the incomplete line at the end of a file. Called by any thread. */
  void rejectIncomplete(TailedFile file) {
    intake.reject(FileSource.NAME, "line_incomplete");
    log(file, file.position(), "line_incomplete", new byte[0], 0, 0);
  }

  private void log(TailedFile file, long offset, String reason, byte[] bytes, int from, int to) {
    if (rejectedLog.permits()) {
      log.warn(
          "Skipped a line of {} at byte {} that is not a span: {}: {}",
          file.path,
          offset,
          reason,
          LineSample.of(bytes, from, to));
    }
  }
}
