package org.traceetl.agent.source.otlp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.flow.AnsweredRequests;
import org.traceetl.agent.flow.AnsweredRequests.Answer;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake.Admission;

final class RepeatJoinTest {
  private final List<Completion> offered = new ArrayList<>();
  private final List<String> told = new ArrayList<>();
  private final List<String> released = new ArrayList<>();
  private final AnsweredRequests answered = new AnsweredRequests(2);
  private final LongAdder joined = new LongAdder();
  private final LongAdder repeated = new LongAdder();
  private Admission answer = Admission.ACCEPTED;
  private final RepeatJoin join =
      new RepeatJoin(
          (source, payload, length, decoder, completion) -> {
            if (answer == Admission.ACCEPTED) {
              offered.add(completion);
            }
            return answer;
          },
          answered,
          joined,
          repeated);

  @Test
  void aRepeatOfARequestInProgressSharesItsOutcome() {
    offer("spans", "first");
    offer("others", "other");
    assertThat(offer("spans", "repeat")).isEqualTo(Admission.ACCEPTED);
    assertThat(offered).hasSize(2);
    assertThat(joined.sum()).isEqualTo(1);

    offered.getFirst().confirmed(3, 1, "bad_id");

    assertThat(told).containsExactly("first confirmed 3 1 bad_id", "repeat confirmed 3 1 bad_id");
  }

  @Test
  void repeatsShareFailures() {
    offer("spans", "first");
    offer("spans", "repeat");
    offered.removeFirst().failed("the agent stops");
    offer("spans", "first");
    offer("spans", "repeat");
    offered.removeFirst().malformed("damaged");

    assertThat(told)
        .containsExactly(
            "first failed the agent stops",
            "repeat failed the agent stops",
            "first malformed damaged",
            "repeat malformed damaged");
  }

  @Test
  void failedAndRefusedRequestsAreOfferedAgain() {
    answer = Admission.FULL;
    assertThat(offer("spans", "refused")).isEqualTo(Admission.FULL);
    answer = Admission.ACCEPTED;
    offer("spans", "first");
    offered.getFirst().failed("the disk is full");
    offer("spans", "second");

    assertThat(offered).hasSize(2);
    assertThat(told).containsExactly("first failed the disk is full");
  }

  @Test
  void aRepeatOfAnAnsweredRequestGetsTheSameAnswer() {
    offer("spans", "first");
    settle(offered.getFirst(), 2, 1, "bad_id");
    answer = Admission.FULL;

    assertThat(offer("spans", "repeat")).isEqualTo(Admission.ACCEPTED);
    assertThat(told).containsExactly("first confirmed 2 1 bad_id", "repeat confirmed 2 1 bad_id");
    assertThat(offered).hasSize(1);
    assertThat(repeated.sum()).isEqualTo(1);
  }

  @Test
  void answersAreRememberedUpToTheLimit() {
    for (String payload : List.of("a", "b", "c")) {
      offer(payload, payload);
      settle(offered.getLast(), 1, 0, "");
    }
    offer("c", "c again");
    offer("a", "a again");

    assertThat(answered.size()).isEqualTo(2);
    assertThat(repeated.sum()).isEqualTo(1);
    assertThat(offered).hasSize(4);
  }

  @Test
  void oldAnswersAreForgotten() {
    offer("spans", "first");
    settle(offered.getFirst(), 1, 0, "");
    answered.add(
        new Checkpoint.Request(1, 2, 3),
        new Answer(AnsweredRequests.MOST_AGE_MILLIS + 2, 1, 0, ""));

    assertThat(answered.size()).isEqualTo(1);
  }

  @Test
  void aRepeatMakesItsRequestRecentAgain() {
    AtomicLong now = new AtomicLong(1);
    offer("spans", "first");
    settle(offered.getFirst(), 1, 0, "");
    answered.goOn(now::get);
    now.set(AnsweredRequests.MOST_AGE_MILLIS);
    offer("spans", "repeat");
    answered.add(
        new Checkpoint.Request(1, 2, 3),
        new Answer(2 * AnsweredRequests.MOST_AGE_MILLIS, 1, 0, ""));
    offer("spans", "later repeat");

    assertThat(offered).hasSize(1);
    assertThat(repeated.sum()).isEqualTo(2);
  }

  /** Records the answer and then confirms, as the pipeline does. */
  private void settle(Completion completion, int accepted, int rejected, String reason) {
    Checkpoint.Request request = (Checkpoint.Request) completion.checkpoint();
    answered.add(request, new Answer(1, accepted, rejected, reason));
    completion.confirmed(accepted, rejected, reason);
  }

  @Test
  void copiesAboveTheLimitAreAskedToRetry() {
    for (int i = 0; i < RepeatJoin.MAX_WAITING; i++) {
      assertThat(offer("spans", "copy")).isEqualTo(Admission.ACCEPTED);
    }
    assertThat(offer("spans", "one too many")).isEqualTo(Admission.FULL);

    offered.getFirst().confirmed(1, 0, "");
    assertThat(told).hasSize(RepeatJoin.MAX_WAITING).doesNotContain("one too many confirmed 1 0 ");
  }

  @Test
  void aRepeatReleasesItsPayloadAtOnce() {
    offer("spans", "first");
    offer("spans", "copy");
    assertThat(released).containsExactly("copy");
    offered.getFirst().released("spans".getBytes(UTF_8));
    settle(offered.getFirst(), 1, 0, "");
    offer("spans", "repeat");

    assertThat(released).containsExactly("copy", "first", "repeat");
  }

  @Test
  void bytesAfterThePayloadAreNotCompared() {
    join.offer("test", "spans and more".getBytes(UTF_8), 5, null, completion("first"));
    join.offer("test", "spans, other".getBytes(UTF_8), 5, null, completion("copy"));
    join.offer("test", "spans, other".getBytes(UTF_8), 6, null, completion("another"));

    assertThat(offered).hasSize(2);
    assertThat(joined.sum()).isEqualTo(1);
  }

  private Admission offer(String payload, String name) {
    return join.offer("test", payload.getBytes(UTF_8), null, completion(name));
  }

  private Completion completion(String name) {
    return new Completion() {
      @Override
      public void released(byte[] payload) {
        released.add(name);
      }

      @Override
      public void confirmed(int accepted, int rejected, String reason) {
        told.add(name + " confirmed " + accepted + " " + rejected + " " + reason);
      }

      @Override
      public void malformed(String reason) {
        told.add(name + " malformed " + reason);
      }

      @Override
      public void failed(String reason) {
        told.add(name + " failed " + reason);
      }
    };
  }
}
