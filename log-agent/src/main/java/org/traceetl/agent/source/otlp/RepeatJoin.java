package org.traceetl.agent.source.otlp;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.traceetl.agent.flow.AnsweredRequests;
import org.traceetl.agent.flow.AnsweredRequests.Answer;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.SpanDecoder;

/**
 * Counts a payload once if its sender repeats it. Spans have identities, so equal bytes are a
 * repeat. A repeat of a payload in progress shares its outcome; a repeat of a recently answered one
 * gets the same answer. A sender repeats if it times out before the answer or the answer is lost,
 * for example when the agent is killed.
 *
 * <p>The payloads in progress are bounded by the pipeline, the answered ones by {@link
 * AnsweredRequests}.
 */
final class RepeatJoin implements Intake {
  /** Most copies of one payload that wait for its outcome; a further sender is asked to retry. */
  static final int MAX_WAITING = 64;

  /**
   * Identifies a payload by its length and two checksums. Their polynomials have no common factor,
   * so together they are one of 64 bits; and processors compute each faster than any hash.
   */
  private static Checkpoint.Request requestOf(byte[] payload, int length) {
    return new Checkpoint.Request(
        checksum(new CRC32(), payload, length), checksum(new CRC32C(), payload, length), length);
  }

  private static long checksum(Checksum checksum, byte[] payload, int length) {
    checksum.update(payload, 0, length);
    return checksum.getValue();
  }

  private final Intake intake;
  private final AnsweredRequests answered;
  private final LongAdder joined;
  private final LongAdder repeated;
  // Guarded by itself.
  private final Map<Checkpoint.Request, Waiting> underWay = new HashMap<>();

  /**
   * @param answered the recently answered requests; an outcome is added there before it is reported
   * @param joined counts payloads joined to one in progress
   * @param repeated counts payloads answered with an earlier answer
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
      // After underWay: a request that has left underWay is already in answered.
      answer = answered.answerAgain(request);
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

  /** The senders that wait for the outcome of one payload. */
  private final class Waiting implements Completion {
    private final Checkpoint.Request request;
    private final Completion first;
    // Guarded by underWay until the entry leaves it.
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
      // The first completion is present from the constructor on, so no lock is needed.
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
      // Pipeline threads call this: the lock makes them wait until offer has added the entry.
      synchronized (underWay) {
        underWay.remove(request);
      }
      completions.forEach(outcome);
    }
  }
}
