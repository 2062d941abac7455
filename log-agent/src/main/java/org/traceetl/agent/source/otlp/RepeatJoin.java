package org.traceetl.agent.source.otlp;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import net.jpountz.xxhash.XXHash64;
import net.jpountz.xxhash.XXHashFactory;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.SpanDecoder;

/**
 * Joins a payload to the same one under way, so that it counts once: a sender whose patience ends
 * before the broker's answer comes repeats what the pipeline has. Spans have identities, so equal
 * bytes are a repeat. One that comes after the answer is not told from a new payload.
 *
 * <p>As many payloads are remembered as the pipeline has under way.
 */
final class RepeatJoin implements Intake {
  /** Copies of one payload that wait for its outcome; one more is told to come back. */
  static final int MAX_WAITING = 64;

  // The portable one: the others reach into memory by sun.misc.Unsafe.
  private static final XXHash64 XX_HASH = XXHashFactory.safeInstance().hash64();

  private record Key(long hash, long otherHash, int length) {
    static Key of(byte[] payload) {
      return new Key(
          XX_HASH.hash(payload, 0, payload.length, 0),
          XX_HASH.hash(payload, 0, payload.length, 1),
          payload.length);
    }
  }

  private final Intake intake;
  private final LongAdder joined;
  // Guarded by itself.
  private final Map<Key, Waiting> underWay = new HashMap<>();

  /**
   * @param joined counts the payloads joined
   */
  RepeatJoin(Intake intake, LongAdder joined) {
    this.intake = intake;
    this.joined = joined;
  }

  @Override
  public Admission offer(
      String source, byte[] payload, SpanDecoder decoder, Completion completion) {
    Key key = Key.of(payload);
    synchronized (underWay) {
      Waiting first = underWay.get(key);
      if (first != null) {
        return first.join(completion);
      }
      Waiting waiting = new Waiting(key, completion);
      Admission admission = intake.offer(source, payload, decoder, waiting);
      if (admission == Admission.ACCEPTED) {
        underWay.put(key, waiting);
      }
      return admission;
    }
  }

  /** Those who wait for the outcome of one payload. */
  private final class Waiting implements Completion {
    private final Key key;
    // Guarded by underWay while it is in there.
    private final List<Completion> completions = new ArrayList<>(1);

    Waiting(Key key, Completion first) {
      this.key = key;
      completions.add(first);
    }

    private Admission join(Completion completion) {
      if (completions.size() == MAX_WAITING) {
        return Admission.FULL;
      }
      completions.add(completion);
      joined.increment();
      return Admission.ACCEPTED;
    }

    @Override
    public void confirmed(int accepted, int rejected, String reason) {
      tell(completion -> completion.confirmed(accepted, rejected, reason));
    }

    @Override
    public void malformed(String reason) {
      tell(completion -> completion.malformed(reason));
    }

    @Override
    public void failed(String reason) {
      tell(completion -> completion.failed(reason));
    }

    private void tell(Consumer<Completion> outcome) {
      // The pipeline's threads tell it: they wait here until the offer has put it there.
      synchronized (underWay) {
        underWay.remove(key);
      }
      completions.forEach(outcome);
    }
  }
}
