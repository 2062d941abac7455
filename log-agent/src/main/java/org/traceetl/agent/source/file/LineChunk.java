package org.traceetl.agent.source.file;

import java.util.function.Consumer;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;

/**
 * Complete lines of a file on their way through the pipeline. The source's thread creates a chunk,
 * the pipeline's thread decodes it, and the source gets it back with its outcome.
 */
final class LineChunk implements SpanDecoder, Completion {
  static final String LINE_TOO_LONG = "line_too_long";

  final TailedFile file;
  final long start;
  final long end;
  private final FilePosition placeAfter;
  private final FileSource source;
  private final Consumer<LineChunk> settled;
  private boolean done;

  /**
   * @param start offset of the first byte in the file
   * @param end offset after the last line's end
   * @param settled called once on the pipeline's thread when the outcome is known
   */
  LineChunk(TailedFile file, long start, long end, FileSource source, Consumer<LineChunk> settled) {
    this.file = file;
    this.start = start;
    this.end = end;
    this.placeAfter = file.placeAt(end);
    this.source = source;
    this.settled = settled;
  }

  @Override
  public void decode(byte[] lines, int length, SpanSink sink) {
    TraceLineDecoder decoder = source.decoder();
    decoder.startPayload();
    int from = 0;
    while (from < length) {
      int lineEnd = from;
      while (lines[lineEnd] != '\n') {
        lineEnd++;
      }
      int end = lineEnd > from && lines[lineEnd - 1] == '\r' ? lineEnd - 1 : lineEnd;
      if (end > from) {
        String problem =
            end - from > source.maxLineBytes()
                ? LINE_TOO_LONG
                : decoder.decode(lines, from, end, sink);
        if (problem != null) {
          sink.rejected(problem);
          source.tellOfRejected(file, start + from, problem, lines, from, end);
        }
      }
      from = lineEnd + 1;
    }
  }

  /** Returns true if the file's position moves past these lines, false to read them again. */
  boolean isDone() {
    return done;
  }

  @Override
  public Checkpoint checkpoint() {
    return placeAfter.checkpoint();
  }

  @Override
  public void confirmed(int accepted, int rejected, String reason) {
    settle(true);
  }

  @Override
  public void malformed(String reason) {
    // A retry cannot succeed, and would block all later lines.
    settle(true);
  }

  @Override
  public void failed(String reason) {
    settle(false);
  }

  private void settle(boolean isDone) {
    done = isDone;
    settled.accept(this);
  }
}
