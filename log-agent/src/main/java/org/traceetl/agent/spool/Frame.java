package org.traceetl.agent.spool;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;
import org.traceetl.agent.flow.AnsweredRequests.Answer;
import org.traceetl.agent.flow.AnsweredRequests.Answered;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.state.AgentIdentity;

/**
 * What is committed together: the batches that some payloads were made into, and the notes of those
 * payloads. Filled again after each commit; owned by the pipeline's thread.
 */
public final class Frame {
  private final AgentIdentity agent;
  private final LongSupplier millis;
  private final CRC32C crc = new CRC32C();
  private List<SpooledBatch> batches = new ArrayList<>();
  private final List<Answered> requests = new ArrayList<>();
  private final List<Checkpoint.Position> places = new ArrayList<>();
  private long bodyBytes;

  /**
   * @param agent the run that names the batches
   * @param millis dates what is added
   */
  public Frame(AgentIdentity agent, LongSupplier millis) {
    this.agent = agent;
    this.millis = millis;
  }

  /** Adds a batch and takes over its body. */
  public void add(BrokerQueue queue, long sequence, byte[] body, int spans) {
    crc.reset();
    crc.update(body, 0, body.length);
    batches.add(
        new SpooledBatch(
            agent,
            queue,
            sequence,
            millis.getAsLong(),
            spans,
            body.length,
            (int) crc.getValue(),
            body));
    bodyBytes += body.length;
  }

  /** Adds what a source wants kept, with the outcome of its payload. */
  public void add(Checkpoint note, int accepted, int rejected, String reason) {
    switch (note) {
      case Checkpoint.Position place -> places.add(place);
      case Checkpoint.Request request ->
          requests.add(
              new Answered(request, new Answer(millis.getAsLong(), accepted, rejected, reason)));
    }
  }

  /** Batches. */
  public int size() {
    return batches.size();
  }

  /** Bytes of the batches. */
  public long bodyBytes() {
    return bodyBytes;
  }

  /** True if there is nothing to commit. */
  public boolean isEmpty() {
    return batches.isEmpty() && requests.isEmpty() && places.isEmpty();
  }

  /** Forgets all, for the next one. */
  public void clear() {
    // Not cleared: the last one's may be on its way to the publisher.
    batches = new ArrayList<>();
    requests.clear();
    places.clear();
    bodyBytes = 0;
  }

  AgentIdentity agent() {
    return agent;
  }

  List<SpooledBatch> batches() {
    return batches;
  }

  List<Answered> requests() {
    return requests;
  }

  List<Checkpoint.Position> places() {
    return places;
  }
}
