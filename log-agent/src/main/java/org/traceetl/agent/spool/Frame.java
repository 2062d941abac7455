package org.traceetl.agent.spool;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;
import org.traceetl.agent.flow.AnsweredRequests.Answer;
import org.traceetl.agent.flow.AnsweredRequests.Answered;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.state.AgentIdentity;

/**
 * A unit of commit: the batches made from some payloads, and the payloads' checkpoints. Reused
 * after each commit; confined to the pipeline thread.
 */
public final class Frame {
  private final AgentIdentity agent;
  private final LongSupplier millis;
  private final long mostWaitMillis;
  private final CRC32C crc = new CRC32C();
  private List<SpooledBatch> batches = new ArrayList<>();

  /** The last sequence of each queue; bounded by the number of queues. */
  private final Map<BrokerQueue, Long> lastSequences = new HashMap<>();

  private final List<Answered> requests = new ArrayList<>();
  private final List<Checkpoint.Position> places = new ArrayList<>();
  private long bodyBytes;
  private long halfEdges;
  private long sampleBytes;

  /**
   * @param agent the agent's run, which is part of the batches' names
   * @param millis the clock that dates batches and answers
   */
  public Frame(AgentIdentity agent, LongSupplier millis) {
    this(agent, millis, 0);
  }

  /**
   * @param agent the agent's run, which is part of the batches' names
   * @param millis the clock that dates batches and answers
   * @param mostWaitMillis by how much a batch is dated before now at most
   */
  public Frame(AgentIdentity agent, LongSupplier millis, long mostWaitMillis) {
    this.agent = agent;
    this.millis = millis;
    this.mostWaitMillis = mostWaitMillis;
  }

  /**
   * Adds a batch that did not wait for the agent, and takes ownership of its body.
   *
   * @param count of its spans or half-edges
   * @throws InconsistentBatchException if the name does not ascend in its queue
   */
  public void add(BrokerQueue queue, long sequence, byte[] body, int count) {
    add(queue, sequence, body, count, 0);
  }

  /**
   * Adds a batch and takes ownership of its body.
   *
   * @param count of its spans or half-edges
   * @param waitedMillis for how long its spans waited for the agent
   * @throws InconsistentBatchException if the name does not ascend in its queue
   */
  public void add(BrokerQueue queue, long sequence, byte[] body, int count, long waitedMillis) {
    crc.reset();
    crc.update(body, 0, body.length);
    long createdMillis = millis.getAsLong() - Math.clamp(waitedMillis, 0L, mostWaitMillis);
    SpooledBatch batch =
        new SpooledBatch(
            agent, queue, sequence, createdMillis, count, body.length, (int) crc.getValue());
    Long last = lastSequences.put(queue, sequence);
    if (!batch.isValid() || last != null && sequence <= last) {
      throw new InconsistentBatchException(
          "batch " + sequence + " of queue " + queue + " after batch " + last + " of " + agent);
    }
    batch.body(body);
    batches.add(batch);
    bodyBytes += body.length;
    halfEdges += batch.halfEdges();
  }

  /** Adds a source's checkpoint, with the outcome of its payload. */
  public void add(Checkpoint note, int accepted, int rejected, String reason) {
    switch (note) {
      case Checkpoint.Position place -> places.add(place);
      case Checkpoint.Request request ->
          requests.add(
              new Answered(request, new Answer(millis.getAsLong(), accepted, rejected, reason)));
    }
  }

  /** Adds a request that was answered before. */
  void add(Answered again) {
    requests.add(again);
  }

  /** Returns the number of batches. */
  public int size() {
    return batches.size();
  }

  /** Returns the bytes of the batches' bodies. */
  public long bodyBytes() {
    return bodyBytes;
  }

  /** Returns the number of half-edges in the batches. */
  public long halfEdges() {
    return halfEdges;
  }

  /** Adds bytes of the last body that are samples, which do not use the room of spans. */
  public void addSampleBytes(long bytes) {
    sampleBytes += bytes;
  }

  /** Returns the bytes of samples in the batches' bodies. */
  public long sampleBytes() {
    return sampleBytes;
  }

  /** Returns true if there is nothing to commit. */
  public boolean isEmpty() {
    return batches.isEmpty() && requests.isEmpty() && places.isEmpty();
  }

  /** Empties the frame for reuse. */
  public void clear() {
    // A new list, because the publisher may still use the last one.
    batches = new ArrayList<>();
    requests.clear();
    places.clear();
    bodyBytes = 0;
    halfEdges = 0;
    sampleBytes = 0;
  }

  /** Returns the run that names the batches. */
  public AgentIdentity agent() {
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
