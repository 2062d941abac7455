package org.traceetl.agent.forward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.otlp.OtlpWriter;
import org.traceetl.agent.otlp.SpanEncoder;

final class ForwardingIntakeTest {
  private static final byte[] PAYLOAD = {1, 2, 3, 4};

  private final List<String> told = new ArrayList<>();
  private final List<QueuedRequest> taken = new ArrayList<>();
  private Completion offered;
  private Admission admission = Admission.ACCEPTED;
  private boolean full;
  private RuntimeException fails;

  private final Intake intake =
      new ForwardingIntake(
          new Intake() {
            @Override
            public Admission offer(
                String source,
                byte[] payload,
                int length,
                SpanDecoder decoder,
                Completion completion) {
              offered = completion;
              return admission;
            }

            @Override
            public void reject(String source, String reason) {
              told.add("rejected " + source + " " + reason);
            }
          },
          request -> {
            if (fails != null) {
              throw fails;
            }
            return !full && taken.add(request);
          },
          () -> 42);

  @Test
  void aConfirmedRequestIsHandedOverBeforeItsSenderIsAnswered() {
    offer(OtlpFormat.JSON, 3);
    offered.released(PAYLOAD);
    assertThat(told).isEmpty();
    assertThat(taken).isEmpty();
    offered.confirmed(2, 1, "bad_id");

    assertThat(told).containsExactly("confirmed 2 1 bad_id");
    QueuedRequest request = taken.getFirst();
    assertThat(request.payload()).isSameAs(PAYLOAD);
    assertThat(request.length()).isEqualTo(3);
    assertThat(request.format()).isEqualTo(OtlpFormat.JSON);
    assertThat(request.millis()).isEqualTo(42);
    request.giveBack();
    assertThat(told).containsExactly("confirmed 2 1 bad_id", "released");
  }

  @Test
  void malformedAndFailedRequestsAreNotForwarded() {
    offer(OtlpFormat.PROTOBUF, 4);
    offered.released(PAYLOAD);
    offered.malformed("cut off");
    offer(OtlpFormat.PROTOBUF, 4);
    offered.released(PAYLOAD);
    offered.failed("the disk is full");

    assertThat(taken).isEmpty();
    assertThat(told)
        .containsExactly("released", "malformed cut off", "released", "failed the disk is full");
  }

  @Test
  void aRequestThatWasNotDecodedIsNotGivenBack() {
    offer(OtlpFormat.PROTOBUF, 4);
    offered.failed("rules");

    assertThat(told).containsExactly("failed rules");
    assertThat(taken).isEmpty();
  }

  @Test
  void withoutRoomTheArrayGoesBackAtOnce() {
    full = true;
    offer(OtlpFormat.PROTOBUF, 4);
    offered.released(PAYLOAD);
    offered.confirmed(1, 0, "");

    assertThat(told).containsExactly("released", "confirmed 1 0 ");
  }

  @Test
  void aSenderIsAnsweredEvenIfForwardingFails() {
    RuntimeException failure = new IllegalStateException("an encoder's");
    fails = failure;
    offer(OtlpFormat.PROTOBUF, 4);
    offered.released(PAYLOAD);

    assertThatThrownBy(() -> offered.confirmed(1, 0, "")).isSameAs(failure);
    assertThat(told).containsExactly("released", "confirmed 1 0 ");
  }

  @Test
  void anEncoderIsTakenAtTheOfferBecauseItsSourceReusesTheDecoder() {
    SpanEncoder encoder = encoder(700);
    SpanDecoder decoder =
        new SpanDecoder() {
          private SpanEncoder next = encoder;

          @Override
          public void decode(byte[] payload, int length, SpanSink sink) {}

          @Override
          public SpanEncoder encoder() {
            SpanEncoder now = next;
            next = null;
            return now;
          }
        };
    intake.offer("ring", PAYLOAD, 4, decoder, completion());
    offered.released(PAYLOAD);
    offered.confirmed(2, 0, "");

    QueuedRequest request = taken.getFirst();
    assertThat(request.source()).isEqualTo("ring");
    assertThat(request.encoder()).isSameAs(encoder);
    assertThat(request.format()).isNull();
    // What the encoder holds counts in the queue.
    assertThat(request.charge()).isEqualTo(4 + 256 + 700);
  }

  private static SpanEncoder encoder(int heldBytes) {
    return new SpanEncoder() {
      @Override
      public void encode(byte[] payload, int length, OtlpWriter to) {}

      @Override
      public int spans(byte[] payload, int length) {
        return 0;
      }

      @Override
      public int heldBytes() {
        return heldBytes;
      }
    };
  }

  @Test
  void whatCannotBeEncodedOrIsEmptyPassesUnchanged() {
    Completion completion = completion();
    intake.offer("file", PAYLOAD, 4, decoder(null), completion);
    assertThat(offered).isSameAs(completion);
    intake.offer("otlp_grpc", PAYLOAD, 0, decoder(OtlpFormat.PROTOBUF), completion);
    assertThat(offered).isSameAs(completion);
    intake.reject("file", "bad_id");
    assertThat(told).containsExactly("rejected file bad_id");
  }

  @Test
  void refusalsAndCheckpointsPass() {
    offer(OtlpFormat.PROTOBUF, 4);
    assertThat(offered.checkpoint()).isNull();
    for (Admission each : Admission.values()) {
      admission = each;
      assertThat(offer(OtlpFormat.PROTOBUF, 4)).isEqualTo(each);
    }
    assertThat(told).isEmpty();
  }

  @Test
  void queueIsBoundedInBytesAndNeverRefusesASingleRequest() {
    RequestQueue queue = new RequestQueue(1_000);
    QueuedRequest large = request(2_000);
    assertThat(queue.offer(large)).isTrue();
    assertThat(queue.offer(request(1))).isFalse();
    assertThat(queue.poll()).isSameAs(large);
    assertThat(queue.offer(request(1))).isFalse();
    assertThat(queue.isSettled()).isFalse();
    queue.settle(large);
    assertThat(queue.isSettled()).isTrue();

    Map<Integer, Boolean> outcomes = new TreeMap<>();
    for (int i = 0; i < 5; i++) {
      outcomes.put(i, queue.offer(request(1)));
    }
    assertThat(outcomes).containsValues(true, false);
    assertThat(outcomes.get(4)).isFalse();
  }

  private QueuedRequest request(int length) {
    return new QueuedRequest(
        "otlp_http", new byte[length], length, OtlpFormat.PROTOBUF, null, 1, completion());
  }

  private Admission offer(OtlpFormat format, int length) {
    return intake.offer("otlp_http", PAYLOAD, length, decoder(format), completion());
  }

  private static SpanDecoder decoder(OtlpFormat format) {
    return new SpanDecoder() {
      @Override
      public void decode(byte[] payload, int length, SpanSink sink) {
        throw new AssertionError("the pipeline decodes");
      }

      @Override
      public OtlpFormat otlpFormat() {
        return format;
      }
    };
  }

  private Completion completion() {
    return new Completion() {
      @Override
      public void released(byte[] payload) {
        assertThat(payload).isSameAs(PAYLOAD);
        told.add("released");
      }

      @Override
      public void confirmed(int accepted, int rejected, String reason) {
        told.add("confirmed " + accepted + " " + rejected + " " + reason);
      }

      @Override
      public void malformed(String reason) {
        told.add("malformed " + reason);
      }

      @Override
      public void failed(String reason) {
        told.add("failed " + reason);
      }
    };
  }
}
