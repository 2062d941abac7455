package org.traceetl.agent.source.otlp;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.traceetl.agent.flow.AnsweredRequests;
import org.traceetl.agent.flow.AnsweredRequests.Answer;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.hash.XxHash64;

/**
 * Lets a payload that is sent again count once. Spans have identities, so equal bytes are a repeat:
 * of one under way it shares the outcome, of one answered of late it gets the same answer. A sender
 * repeats when its patience ends before the answer comes, or when the answer is lost, as when the
 * agent is killed just before it.
 *
 * <p>As many payloads are remembered as the pipeline has under way, and those that were answered
 * within their own bounds.
 */
final class RepeatJoin implements Intake {
  /** Copies of one payload that wait for its outcome; one more is told to come back. */
  static final int MAX_WAITING = 64;

  /** Two hashes that have nothing in common: what one of them confuses the other tells apart. */
  private static Checkpoint.Request requestOf(byte[] payload, int length) {
    CRC32C crc = new CRC32C();
    crc.update(payload, 0, length);
    return new Checkpoint.Request(XxHash64.hash(payload, 0, length, 0), crc.getValue(), length);
  }

  private final Intake intake;
  private final AnsweredRequests answered;
  private final LongAdder joined;
  private final LongAdder repeated;
  // Guarded by itself.
  private final Map<Checkpoint.Request, Waiting> underWay = new HashMap<>();

  /**
   * @param answered the requests answered of late; whoever answers them adds them before
   * @param joined counts the payloads joined to one under way
   * @param repeated counts the payloads answered as before
   */
  RepeatJoin(Intake intake, AnsweredRequests answered, LongAdder joined, LongAdder repeated) {
    this.intake = intake;
    this.answered = answered;
    this.joined = joined;
    this.repeated = repeated;
  }

  @Override
  public Admission offer(
      String source, byte[] payload, int length, SpanDecoder decoder, Completion completion) {
    Checkpoint.Request request = requestOf(payload, length);
    Answer answer;
    synchronized (underWay) {
      Waiting first = underWay.get(request);
      if (first != null) {
        return first.join(payload, completion);
      }
      // After those under way: what has left them is remembered by then.
      answer = answered.find(request);
      if (answer == null) {
        Waiting waiting = new Waiting(request, completion);
        Admission admission = intake.offer(source, payload, length, decoder, waiting);
        if (admission == Admission.ACCEPTED) {
          underWay.put(request, waiting);
        }
        return admission;
      }
    }
    repeated.increment();
    completion.released(payload);
    completion.confirmed(answer.accepted(), answer.rejected(), answer.reason());
    return Admission.ACCEPTED;
  }

  /** Those who wait for the outcome of one payload. */
  private final class Waiting implements Completion {
    private final Checkpoint.Request request;
    private final Completion first;
    // Guarded by underWay while it is in there.
    private final List<Completion> completions = new ArrayList<>(1);

    Waiting(Checkpoint.Request request, Completion first) {
      this.request = request;
      this.first = first;
      completions.add(first);
    }

    private Admission join(byte[] payload, Completion completion) {
      if (completions.size() == MAX_WAITING) {
        return Admission.FULL;
      }
      completions.add(completion);
      joined.increment();
      completion.released(payload);
      return Admission.ACCEPTED;
    }

    @Override
    public Checkpoint checkpoint() {
      return request;
    }

    @Override
    public void released(byte[] payload) {
      // The first is there from the beginning, so nobody has to be waited for.
      first.released(payload);
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
        underWay.remove(request);
      }
      completions.forEach(outcome);
    }
  }
}
