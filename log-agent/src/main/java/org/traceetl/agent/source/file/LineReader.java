package org.traceetl.agent.source.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.FilesConfig;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.common.LogThrottle;

/**
 * Reads the complete lines of files and offers them to the pipeline. Each file has one chunk of
 * lines in progress at a time. Owned by the source's thread, unless a method says otherwise.
 */
final class LineReader {
  private static final Logger log = LoggerFactory.getLogger(LineReader.class);

  /** Most bytes of lines in a chunk, unless a single line is longer. */
  private static final int CHUNK_BYTES = 1024 * 1024;

  static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final FilesConfig config;
  private final Intake intake;
  private final FileMetrics metrics;
  private final Consumer<LineChunk> settled;
  private final LogThrottle failureLog;
  private final LineDecoder decoder;

  // Null until the first read: a source without files needs none.
  private ByteBuffer buffer;
  private boolean waiting;
  private volatile boolean reading = true;

  /**
   * @param settled receives each chunk after its outcome, on the pipeline's thread
   */
  LineReader(
      FilesConfig config,
      Intake intake,
      FileMetrics metrics,
      Consumer<LineChunk> settled,
      LongSupplier nanoClock) {
    this.config = config;
    this.intake = intake;
    this.metrics = metrics;
    this.settled = settled;
    this.decoder = new LineDecoder(config.maxLineBytes(), intake, nanoClock);
    this.failureLog = new LogThrottle(nanoClock);
  }

  /** Stops reading; chunks in progress still count. Called by any thread. */
  void stop() {
    reading = false;
  }

  boolean isReading() {
    return reading;
  }

  /** Offers lines again after the pipeline had no room. */
  void retryRefused() {
    waiting = false;
  }

  /** Returns the bytes that one read returns at most. */
  int bufferBytes() {
    // One byte more than the longest line, for its line end.
    return Math.max(CHUNK_BYTES, config.maxLineBytes() + 1);
  }

  /**
   * Offers new complete lines, unless lines are in progress. Returns false if it could not read.
   */
  boolean read(TailedFile file, long nowNanos) {
    if (!reading || waiting || nowNanos - file.pausedUntilNanos < 0) {
      return false;
    }
    if (buffer == null) {
      buffer = ByteBuffer.allocate(bufferBytes());
    }
    try {
      if (file.startOverIfTruncated()) {
        metrics.truncations.increment();
        log.info("{} was truncated; reading it from its start", file.path);
      }
      while (reading && !waiting && !file.isUnderWay()) {
        int length = file.read(buffer);
        if (length == 0) {
          return true;
        }
        offerLines(file, length);
      }
      return true;
    } catch (IOException e) {
      file.pausedUntilNanos = nowNanos + RETRY_NANOS;
      if (failureLog.permits()) {
        log.warn("{} cannot be read now: {}", file.path, e.toString());
      }
      return false;
    }
  }

  private void offerLines(TailedFile file, int length) {
    byte[] bytes = buffer.array();
    if (file.isSkippingLine()) {
      int lineEnd = firstLineEnd(bytes, length);
      file.skip(lineEnd < 0 ? length : lineEnd + 1);
      file.skippingLine(lineEnd < 0);
      return;
    }
    int end = length;
    while (end > 0 && bytes[end - 1] != '\n') {
      end--;
    }
    if (end > 0) {
      offer(file, Arrays.copyOf(bytes, end));
    } else if (length > config.maxLineBytes()) {
      decoder.rejectTooLong(file, bytes, length);
      file.skip(length);
      file.skippingLine(true);
    }
  }

  private static int firstLineEnd(byte[] bytes, int length) {
    for (int i = 0; i < length; i++) {
      if (bytes[i] == '\n') {
        return i;
      }
    }
    return -1;
  }

  private void offer(TailedFile file, byte[] lines) {
    LineChunk chunk = new LineChunk(file, lines.length, decoder, settled);
    if (intake.offer(FileSource.NAME, lines, chunk, chunk) == Admission.ACCEPTED) {
      file.sent(chunk);
    } else {
      // The pipeline is full; it would refuse other files as well.
      waiting = true;
      file.readAgain();
    }
  }

  /** Counts the incomplete line at the end of a file that is not read any more. */
  void rejectIncomplete(TailedFile file) {
    try {
      if (file.unreadBytes() > 0 && !file.isSkippingLine()) {
        decoder.rejectIncomplete(file);
      }
    } catch (IOException e) {
      log.warn("Cannot get the size of {}: {}", file.path, e.toString());
    }
  }
}
