package org.traceetl.server.consume.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.common.message.MessageQueue;
import org.junit.jupiter.api.Test;

class ObservedAllocationTest {
  private static final MessageQueue FIRST = new MessageQueue("spans", "broker", 0);
  private static final MessageQueue SECOND = new MessageQueue("spans", "broker", 1);

  private final ObservedAllocation allocation = new ObservedAllocation();

  private List<MessageQueue> rebalance(String... consumers) {
    return allocation.allocate("group", "b", List.of(FIRST, SECOND), List.of(consumers));
  }

  @Test
  void queuesAreSharedOutAsByTheDefaultStrategy() {
    assertThat(rebalance("a", "b")).containsExactly(SECOND);
    assertThat(allocation.getName()).isEqualTo(new AllocateMessageQueueAveragely().getName());
  }

  @Test
  void secondConnectionOfAConsumerGetsNoQueue() {
    assertThat(rebalance("a", "a", "b", "b")).containsExactly(SECOND);
    assertThat(rebalance("b", "b")).containsExactly(FIRST, SECOND);
  }

  @Test
  void aRebalanceThatDoesNotKnowTheConsumerSaysNothing() {
    assertThat(rebalance("a")).isEmpty();
    assertThat(allocation.queues()).isNull();
    rebalance("a", "b");
    rebalance("a");
    assertThat(allocation.queues()).containsExactly(SECOND);
  }

  @Test
  void aConsumerThatGetsNoQueueKnowsIt() {
    rebalance("0", "a", "b");
    assertThat(allocation.queues()).isEmpty();
  }

  @Test
  void aQueueIsWithheldWhenTheNextRebalanceFindsItNotHandedOver() {
    rebalance("a", "b");
    assertThat(allocation.isWithheld(SECOND)).isFalse();
    rebalance("a", "b");
    assertThat(allocation.isWithheld(SECOND)).isTrue();
    allocation.handedOver(Set.of(SECOND));
    assertThat(allocation.isWithheld(SECOND)).isFalse();
    rebalance("a", "b");
    assertThat(allocation.isWithheld(SECOND)).isFalse();
  }

  @Test
  void aQueueIsLostWhenTheNextRebalanceFindsItNotTakenAway() {
    rebalance("b");
    allocation.handedOver(Set.of(FIRST, SECOND));
    rebalance("a", "b");
    assertThat(allocation.lost()).isEmpty();
    rebalance("a", "b");
    assertThat(allocation.lost()).containsExactly(FIRST);
    rebalance("b");
    assertThat(allocation.lost()).isEmpty();
    rebalance("a", "b");
    rebalance("a", "b");
    allocation.handedOver(Set.of(SECOND));
    assertThat(allocation.lost()).isEmpty();
  }

  @Test
  void aQueueThatWasLostMayBeWithheldLater() {
    rebalance("b");
    allocation.handedOver(Set.of(FIRST, SECOND));
    rebalance("a", "b");
    rebalance("a", "b");
    assertThat(allocation.lost()).containsExactly(FIRST);
    rebalance("b");
    assertThat(allocation.isWithheld(FIRST)).isFalse();
    rebalance("b");
    assertThat(allocation.isWithheld(FIRST)).isTrue();
    assertThat(allocation.isWithheld(SECOND)).isFalse();
  }

  @Test
  void aTopicThatHasGoneLeavesNoQueue() {
    rebalance("b");
    allocation.handedOver(Set.of(FIRST, SECOND));
    allocation.handedOver(Set.of());
    assertThat(allocation.queues()).isEmpty();
  }
}
