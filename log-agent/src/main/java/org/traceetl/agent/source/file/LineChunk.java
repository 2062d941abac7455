package org.traceetl.agent.source.file;

import java.util.function.Consumer;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.otlp.SpanEncoder;

/**
 * Complete lines of a file on their way through the pipeline. The source's thread creates a chunk,
 * the pipeline's thread decodes it, and the source gets it back with its outcome.
 */
final class LineChunk implements SpanDecoder, Completion {
  final TailedFile file;

  /** Offset in the file after the last line's end. */
  final long end;

  private final long start;
  private final FilePosition placeAfter;
  private final LineDecoder decoder;
  private final Consumer<LineChunk> settled;
  private boolean done;

  /**
   * Creates a chunk that begins at the file's position.
   *
   * @param length bytes of the lines with their ends
   * @param settled called once on the pipeline's thread when the outcome is known
   */
  LineChunk(TailedFile file, int length, LineDecoder decoder, Consumer<LineChunk> settled) {
    this.file = file;
    this.start = file.position();
    this.end = start + length;
    this.placeAfter = file.placeAt(end);
    this.decoder = decoder;
    this.settled = settled;
  }

  @Override
  public void decode(byte[] lines, int length, SpanSink sink) {
    decoder.decode(file, start, lines, length, sink);
  }

  @Override
  public SpanEncoder encoder() {
    return decoder.encoder();
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
