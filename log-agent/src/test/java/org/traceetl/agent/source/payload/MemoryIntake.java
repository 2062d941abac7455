package org.traceetl.agent.source.payload;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.source.payload.RecordingSink.Recorded;

/** Acts as pipeline and spool: decodes and keeps payloads at once, unless a test changes it. */
public final class MemoryIntake implements Intake {
  private final String source;
  private final RecordingSink decoded = new RecordingSink();
  private final List<Recorded> kept = new ArrayList<>();
  private final LinkedHashMap<String, Checkpoint.Position> positions = new LinkedHashMap<>();
  private final Deque<Runnable> held = new ArrayDeque<>();
  private Admission refusal;
  private boolean holding;
  private boolean failing;
  private boolean failingDeletions;
  private int offers;
  private int deletions;

  /**
   * @param source name of the only source
   */
  public MemoryIntake(String source) {
    this.source = source;
  }

  @Override
  public synchronized Admission offer(
      String from, byte[] payload, int length, SpanDecoder decoder, Completion completion) {
    if (!source.equals(from)) {
      throw new IllegalArgumentException(from);
    }
    offers++;
    if (refusal != null) {
      return refusal;
    }
    int before = decoded.spans.size();
    boolean malformed = false;
    try {
      decoder.decode(payload, length, decoded);
    } catch (MalformedPayloadException e) {
      malformed = true;
    }
    List<Recorded> spans = List.copyOf(decoded.spans.subList(before, decoded.spans.size()));
    Checkpoint.Position position = malformed ? null : (Checkpoint.Position) completion.checkpoint();
    completion.released(payload);
    deletions += length == 0 ? 1 : 0;
    if (malformed) {
      completion.malformed("as the decoder has it");
    } else if (holding) {
      held.add(() -> keep(position, spans, completion));
    } else if (failing || (length == 0 && failingDeletions)) {
      failing = false;
      failingDeletions = false;
      completion.failed("as the test wants it");
    } else {
      keep(position, spans, completion);
    }
    return Admission.ACCEPTED;
  }

  @Override
  public synchronized void reject(String from, String reason) {
    if (!source.equals(from)) {
      throw new IllegalArgumentException(from);
    }
    decoded.rejected(reason);
  }

  private void keep(Checkpoint.Position position, List<Recorded> spans, Completion completion) {
    kept.addAll(spans);
    positions.remove(position.name());
    if (!position.content().isEmpty()) {
      positions.put(position.name(), position);
    }
    completion.confirmed(spans.size(), 0, "");
  }

  /** Refuses payloads; null ends this. */
  public synchronized void refuse(Admission with) {
    refusal = with;
  }

  public synchronized void failNext() {
    failing = true;
  }

  public synchronized void failNextDeletion() {
    failingDeletions = true;
  }

  public synchronized void hold() {
    holding = true;
  }

  /** Discards held payloads: the agent died before their outcome was known. */
  public synchronized void forgetHeld() {
    holding = false;
    held.clear();
  }

  /** Stores and confirms the held payloads. */
  public synchronized void keepHeld() {
    holding = false;
    keepHeldAndHold();
  }

  /** Stores and confirms the held payloads, and holds later ones. */
  public synchronized void keepHeldAndHold() {
    List<Runnable> now = List.copyOf(held);
    held.clear();
    now.forEach(Runnable::run);
  }

  public synchronized int heldPayloads() {
    return held.size();
  }

  /** Returns the number of offers, including refused ones. */
  public synchronized int offers() {
    return offers;
  }

  /** Returns how often a position was to be deleted. */
  public synchronized int deletions() {
    return deletions;
  }

  public synchronized List<Checkpoint.Position> positions() {
    return List.copyOf(positions.values());
  }

  /** Adds a position of an earlier run, as the oldest. */
  public synchronized void putFirst(Checkpoint.Position position) {
    positions.putFirst(position.name(), position);
  }

  /** Adds a position of an earlier run, as the most recent. */
  public synchronized void putLast(Checkpoint.Position position) {
    positions.putLast(position.name(), position);
  }

  public synchronized List<Map<String, String>> resources() {
    return List.copyOf(decoded.resources);
  }

  /** Returns the spans of stored payloads. */
  public synchronized List<Recorded> spans() {
    return List.copyOf(kept);
  }

  /** Returns the IDs of the spans of stored payloads, in their order. */
  public synchronized List<Long> ids() {
    return kept.stream().map(Recorded::spanId).toList();
  }

  /** Returns the IDs of the spans of all accepted payloads, in their order. */
  public synchronized List<Long> decodedIds() {
    return decoded.spans.stream().map(Recorded::spanId).toList();
  }

  /** Returns the number of spans of stored payloads. */
  public synchronized int size() {
    return kept.size();
  }

  public synchronized List<String> rejections() {
    return List.copyOf(decoded.rejected);
  }
}
