package org.traceetl.agent.source.ring;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;

/** Acts as pipeline and spool: decodes and keeps payloads at once, unless a test changes it. */
final class MemoryIntake implements Intake, SpanSink {
  record Seen(long spanId, String name, Map<String, String> attributes) {}

  private final List<Map<String, String>> resources = new ArrayList<>();
  private final List<Seen> spans = new ArrayList<>();
  private final List<Seen> ofPayload = new ArrayList<>();
  private final List<String> rejected = new ArrayList<>();
  private final Map<String, Checkpoint.Position> places = new LinkedHashMap<>();
  private final Deque<Runnable> held = new ArrayDeque<>();
  private Admission refusal;
  private boolean holding;
  private boolean failing;
  private int offers;

  @Override
  public synchronized Admission offer(
      String source, byte[] payload, int length, SpanDecoder decoder, Completion completion) {
    if (!source.equals("ring")) {
      throw new IllegalArgumentException(source);
    }
    offers++;
    if (refusal != null) {
      return refusal;
    }
    ofPayload.clear();
    boolean malformed = false;
    try {
      decoder.decode(payload, length, this);
    } catch (MalformedPayloadException e) {
      malformed = true;
    }
    Checkpoint.Position place = malformed ? null : (Checkpoint.Position) completion.checkpoint();
    List<Seen> seen = List.copyOf(ofPayload);
    completion.released(payload);
    if (malformed) {
      completion.malformed("as the decoder has it");
    } else if (holding) {
      held.add(() -> keep(place, seen, completion));
    } else if (failing) {
      failing = false;
      completion.failed("as the test wants it");
    } else {
      keep(place, seen, completion);
    }
    return Admission.ACCEPTED;
  }

  private void keep(Checkpoint.Position place, List<Seen> seen, Completion completion) {
    spans.addAll(seen);
    places.remove(place.name());
    if (!place.content().isEmpty()) {
      places.put(place.name(), place);
    }
    completion.confirmed(seen.size(), 0, "");
  }

  @Override
  public void resource(Attributes attributes) {
    resources.add(copy(attributes));
  }

  @Override
  public void span(SpanView span) {
    ofPayload.add(
        new Seen(
            span.spanId,
            new String(span.name, span.nameOffset, span.nameLength, UTF_8),
            copy(span.attributes)));
  }

  @Override
  public void rejected(String reason) {
    rejected.add(reason);
  }

  private static Map<String, String> copy(Attributes attributes) {
    Map<String, String> copy = new TreeMap<>();
    for (int i = 0; i < attributes.size(); i++) {
      copy.put(
          new String(attributes.key(i), attributes.keyOffset(i), attributes.keyLength(i), UTF_8),
          new String(
              attributes.value(i), attributes.valueOffset(i), attributes.valueLength(i), UTF_8));
    }
    return copy;
  }

  synchronized void refuse(Admission with) {
    refusal = with;
  }

  synchronized void failNext() {
    failing = true;
  }

  synchronized void hold() {
    holding = true;
  }

  /** Discards held payloads: the agent died before their outcome was known. */
  synchronized void forgetHeld() {
    holding = false;
    held.clear();
  }

  /** Stores held payloads on disk without confirming them to their source. */
  synchronized void keepHeld() {
    holding = false;
    held.forEach(Runnable::run);
    held.clear();
  }

  synchronized int heldPayloads() {
    return held.size();
  }

  synchronized int offers() {
    return offers;
  }

  synchronized List<Checkpoint.Position> places() {
    return List.copyOf(places.values());
  }

  synchronized List<Map<String, String>> resources() {
    return List.copyOf(resources);
  }

  synchronized List<Seen> spans() {
    return List.copyOf(spans);
  }

  synchronized List<Long> ids() {
    return spans.stream().map(Seen::spanId).toList();
  }

  synchronized int size() {
    return spans.size();
  }

  synchronized List<String> rejections() {
    return List.copyOf(rejected);
  }
}
