package org.traceetl.agent.source.otlp;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.source.payload.RecordingSink;
import org.traceetl.agent.source.payload.RecordingSink.Recorded;

/** A single-threaded pipeline that decodes and confirms at once; tests can make it refuse. */
final class DecodingIntake implements Intake, AutoCloseable {
  private final ExecutorService pipeline = Executors.newSingleThreadExecutor();
  private final Deque<Admission> refusals = new ArrayDeque<>();
  private final List<Recorded> spans = new ArrayList<>();
  private final List<String> offers = new ArrayList<>();
  private String failure;

  /** Answers the next offers with these, then accepts payloads again. */
  synchronized void refuse(Admission... next) {
    refusals.addAll(List.of(next));
  }

  /** Accepts payloads without confirming them; null ends this. */
  synchronized void failWith(String reason) {
    failure = reason;
  }

  /** Returns the sources of all offers, including refused ones. */
  synchronized List<String> offers() {
    return List.copyOf(offers);
  }

  synchronized List<Recorded> spans() {
    return List.copyOf(spans);
  }

  @Override
  public synchronized Admission offer(
      String source, byte[] payload, int length, SpanDecoder decoder, Completion completion) {
    offers.add(source);
    if (!refusals.isEmpty()) {
      return refusals.poll();
    }
    pipeline.execute(() -> decode(payload, length, decoder, completion));
    return Admission.ACCEPTED;
  }

  @Override
  public void close() {
    pipeline.shutdownNow();
  }

  private void decode(byte[] payload, int length, SpanDecoder decoder, Completion completion) {
    RecordingSink sink = new RecordingSink();
    try {
      decoder.decode(payload, length, sink);
    } catch (MalformedPayloadException e) {
      completion.malformed(e.getMessage());
      return;
    } finally {
      // The next request may use the array before this one is answered.
      Arrays.fill(payload, (byte) '?');
      completion.released(payload);
    }
    synchronized (this) {
      if (failure != null) {
        completion.failed(failure);
        return;
      }
      spans.addAll(sink.spans);
    }
    completion.confirmed(sink.spans.size(), sink.rejected.size(), String.join(",", sink.rejected));
  }
}
