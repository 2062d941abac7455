package org.traceetl.server.consume;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.OwnedQueue.Outcome;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

class OwnedQueueTest {
  private static final QueueId ID = new QueueId("b", 0);

  private final List<Long> skipped = new ArrayList<>();
  private final List<Long> replaced = new ArrayList<>();
  private final PipelineListener listener =
      new PipelineListener() {
        @Override
        public void skipped(QueueId queue, long messages) {
          skipped.add(messages);
        }

        @Override
        public void replaced(QueueId queue, long messages) {
          replaced.add(messages);
        }
      };
  private final Aggregation aggregation =
      new Aggregation(
          SeriesConfig.defaults(),
          new HistogramConfig(null),
          DocumentsConfig.defaults(),
          new WindowConfig(null, null));
  private final OwnedQueue queue =
      new OwnedQueue(
          ID,
          new MessageQueue("t", "b", 0),
          aggregation.newAggregator(ID, aggregation.newDecoder(), listener),
          listener,
          10,
          Set.of());

  private static MessageExt message(long offset, long min, long max) {
    MessageExt message = new MessageExt();
    message.setQueueOffset(offset);
    message.setBody(new Batch("shop").span("a", 1).message(offset));
    MessageAccessor.putProperty(message, MessageConst.PROPERTY_MIN_OFFSET, Long.toString(min));
    MessageAccessor.putProperty(message, MessageConst.PROPERTY_MAX_OFFSET, Long.toString(max));
    return message;
  }

  private static List<MessageExt> messages(long min, long max, long... offsets) {
    List<MessageExt> messages = new ArrayList<>();
    for (long offset : offsets) {
      messages.add(message(offset, min, max));
    }
    return messages;
  }

  private long recorded() {
    SealedWindow window = queue.swap(1_000).seal();
    return window.books().getFirst().recorded();
  }

  @Test
  void messagesAreTakenInTheOrderOfTheirOffsets() {
    assertThat(queue.take(messages(0, 15, 10, 11, 12), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(queue.status().next()).isEqualTo(13);
    assertThat(queue.status().lag()).isEqualTo(2);
    assertThat(recorded()).isEqualTo(3);
  }

  @Test
  void messagesPulledTwiceAreTakenOnce() {
    queue.take(messages(0, 15, 10, 11), 0);
    assertThat(queue.take(messages(0, 15, 10, 11, 12), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(queue.next()).isEqualTo(13);
    assertThat(recorded()).isEqualTo(3);
    assertThat(replaced).isEmpty();
  }

  /** As a broker has them that had messages up to 11 and was then sent others. */
  private static List<MessageExt> others(long max, long... offsets) {
    List<MessageExt> messages = messages(0, max, offsets);
    for (MessageExt message : messages) {
      message.setBody(new Batch("shop").span("a", 1).message(1_000_000 + message.getQueueOffset()));
    }
    return messages;
  }

  @Test
  void messagesThatTheBrokerHasInPlaceOfLostOnesAreRead() {
    queue.take(messages(0, 14, 10, 11, 12, 13), 0);

    assertThat(queue.take(others(20, 11, 12), 0)).isEqualTo(Outcome.TAKEN);
    assertThat(queue.take(others(20, 13, 14), 0)).isEqualTo(Outcome.REWIND);
    assertThat(queue.next()).isEqualTo(11);
    queue.rewound();
    assertThat(queue.take(others(20, 11, 12, 13, 14), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(replaced).containsExactly(3L);
    assertThat(queue.next()).isEqualTo(15);
    assertThat(recorded()).isEqualTo(8);
  }

  @Test
  void messagesReadAgainAfterALossCountOnce() {
    queue.take(messages(0, 14, 10, 11, 12, 13), 0);

    assertThat(queue.take(messages(0, 20, 10, 11, 12), 0)).isEqualTo(Outcome.TAKEN);
    assertThat(queue.take(others(20, 13), 0)).isEqualTo(Outcome.REWIND);
    queue.rewound();
    queue.take(messages(0, 20, 10, 11, 12), 0);
    queue.take(others(20, 13), 0);

    assertThat(replaced).containsExactly(4L);
    assertThat(recorded()).isEqualTo(5);
  }

  @Test
  void aMissingMessageIsPulledAgain() {
    assertThat(queue.take(messages(0, 15, 10, 12, 13), 0)).isEqualTo(Outcome.REWIND);
    assertThat(queue.next()).isEqualTo(11);
    queue.rewound();
    assertThat(queue.take(messages(0, 15, 11, 12, 13), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(recorded()).isEqualTo(4);
    assertThat(skipped).isEmpty();
  }

  @Test
  void messagesThatTheBrokerDeletedAreCountedAsSkipped() {
    assertThat(queue.take(messages(20, 30, 20, 21), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(queue.next()).isEqualTo(22);
    assertThat(skipped).containsExactly(10L);
    SealedWindow window = queue.swap(1_000).seal();
    assertThat(window.from()).as("where the one before it ended").isEqualTo(10);
    assertThat(window.to()).isEqualTo(22);
    assertThat(window.books().getFirst().recorded()).isEqualTo(2);
  }

  @Test
  void aMessageThatStaysMissingIsGivenUp() {
    for (int i = 0; i < 3; i++) {
      assertThat(queue.take(messages(0, 15, 11), 0)).isEqualTo(Outcome.REWIND);
      queue.rewound();
    }
    assertThat(queue.take(messages(0, 15, 11), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(skipped).containsExactly(1L);
    assertThat(queue.next()).isEqualTo(12);
  }

  @Test
  void aMessageIsNotGivenUpWhileTheQueueCannotBePulledAgain() {
    for (int i = 0; i < 10; i++) {
      assertThat(queue.take(messages(0, 15, 11), 0)).isEqualTo(Outcome.REWIND);
    }
    queue.rewound();
    assertThat(queue.take(messages(0, 15, 10, 11), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(skipped).isEmpty();
    assertThat(recorded()).isEqualTo(2);
  }

  @Test
  void aTopicMadeAnewIsReadFromItsStart() {
    queue.take(messages(0, 11, 10), 0);
    assertThat(queue.take(messages(0, 2, 0, 1), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(queue.next()).isEqualTo(2);
    assertThat(replaced).containsExactly(11L);
    SealedWindow window = queue.swap(1_000).seal();
    assertThat(window.from()).isEqualTo(10);
    assertThat(window.to()).isEqualTo(2);
  }
}
