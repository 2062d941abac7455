package org.traceetl.server.consume.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.LongPredicate;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.sysflag.PullSysFlag;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.RequestCode;
import org.apache.rocketmq.remoting.protocol.header.PullMessageRequestHeader;
import org.junit.jupiter.api.Test;

class ResumedPullsTest {
  private static final String MASTER = "10.0.0.1:10911";

  private long nowNanos = Long.MAX_VALUE - 10;
  private final ResumedPulls pulls = new ResumedPulls(() -> nowNanos);
  private final MessageQueue queue = new MessageQueue("t", "b", 3);
  private final LongPredicate resumed = pulls.of(queue);

  private static RemotingCommand pull(long offset, boolean waits) {
    PullMessageRequestHeader header = new PullMessageRequestHeader();
    header.setTopic("t");
    header.setBrokerName("b");
    header.setQueueId(3);
    header.setQueueOffset(offset);
    header.setSysFlag(PullSysFlag.buildSysFlag(false, waits, true, false));
    return RemotingCommand.createRequestCommand(RequestCode.LITE_PULL_MESSAGE, header);
  }

  private void asked(String address, long offset) {
    pulls.doBeforeRequest(address, pull(offset, true));
  }

  private void answered(String address, long offset) {
    asked(address, offset);
    pulls.doAfterResponse(
        address, pull(offset, true), RemotingCommand.createResponseCommand(0, null));
  }

  @Test
  void aPullAfterOneWithoutAnAnswerIsNotedOnce() {
    answered(MASTER, 10);
    asked(MASTER, 20);
    answered(MASTER, 20);
    answered(MASTER, 30);

    assertThat(resumed.test(10)).isFalse();
    assertThat(resumed.test(20)).isTrue();
    assertThat(resumed.test(20)).isFalse();
    assertThat(resumed.test(30)).isFalse();
  }

  @Test
  void aPullAtAnotherAddressIsNoted() {
    answered(MASTER, 10);
    answered("10.0.0.2:10911", 20);

    assertThat(resumed.test(20)).isTrue();
  }

  @Test
  void aPullAfterAGapIsNoted() {
    answered(MASTER, 10);
    nowNanos += ResumedPulls.GAP_NANOS - 1;
    answered(MASTER, 20);
    nowNanos += ResumedPulls.GAP_NANOS;
    asked(MASTER, 30);

    assertThat(resumed.test(20)).isFalse();
    assertThat(resumed.test(30)).isTrue();
  }

  @Test
  void theTimeOfAPullIsNoGap() {
    answered(MASTER, 10);
    asked(MASTER, 20);
    nowNanos += 100 * ResumedPulls.GAP_NANOS;
    pulls.doAfterResponse(MASTER, pull(20, true), RemotingCommand.createResponseCommand(0, null));
    answered(MASTER, 30);

    assertThat(resumed.test(30)).isFalse();
  }

  @Test
  void eachPullIsNotedThatTheWorkerHasNotComeTo() {
    asked(MASTER, 10);
    answered(MASTER, 10);
    asked(MASTER, 20);
    answered(MASTER, 20);

    assertThat(resumed.test(10)).isTrue();
    assertThat(resumed.test(20)).isTrue();
  }

  @Test
  void aPullThatASeekEndsIsNotOneWithoutAnAnswer() {
    asked(MASTER, 10);
    pulls.sought(queue, 5, MASTER);
    answered(MASTER, 5);

    assertThat(resumed.test(5)).isFalse();
  }

  @Test
  void aPullAtAnotherAddressThanMessagesWereComparedAtIsNoted() {
    answered(MASTER, 10);
    pulls.sought(queue, 10, MASTER);
    answered("10.0.0.2:10911", 10);

    assertThat(resumed.test(10)).isTrue();
  }

  @Test
  void aPullElsewhereThanAtTheSoughtOffsetIsNotedUntilTheNextSeek() {
    answered(MASTER, 10);
    pulls.sought(queue, 5, MASTER);
    asked(MASTER, 5);
    assertThat(pulls.hasLeft(queue)).isFalse();
    answered(MASTER, 10);
    assertThat(pulls.hasLeft(queue)).isTrue();

    pulls.sought(queue, 5, MASTER);
    assertThat(pulls.hasLeft(queue)).isFalse();
    answered(MASTER, 5);
    answered(MASTER, 10);
    assertThat(pulls.hasLeft(queue)).isFalse();
  }

  @Test
  void theAnswerOfAPullBeforeTheSeekDoesNotCount() {
    asked(MASTER, 10);
    pulls.sought(queue, 5, MASTER);
    pulls.doAfterResponse(MASTER, pull(10, true), RemotingCommand.createResponseCommand(0, null));
    answered(MASTER, 11);

    assertThat(pulls.hasLeft(queue)).isTrue();
  }

  @Test
  void questionsBesideTheConsumersOwnPullsAreNotNoted() {
    asked(MASTER, 10);
    pulls.doBeforeRequest("10.0.0.2:10911", pull(9, false));
    pulls.doAfterResponse(MASTER, pull(9, false), RemotingCommand.createResponseCommand(0, null));
    answered(MASTER, 10);

    assertThat(resumed.test(9)).isFalse();
    assertThat(resumed.test(10)).isTrue();
  }
}
