package org.traceetl.server.features.backfill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.common.message.MessageExt;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.consume.retained.Patience;
import org.traceetl.server.journal.NoAnswerException;

/** The rate of reading, and its progress. */
class PacedReaderTest {
  private final StringWriter out = new StringWriter();
  private long nowNanos;
  private long lag;
  private final Clocks clocks = new Clocks(() -> nowNanos, InstantSource.system(), this::pause);

  /** Each pause lets servers catch up by a message. */
  private void pause(long nanos) {
    nowNanos += nanos;
    lag = Math.max(0, lag - 1);
  }

  private PacedReader reader(long bytesPerSecond, long all) {
    PrintWriter printed = new PrintWriter(out, true);
    return new PacedReader(
        clocks,
        bytesPerSecond,
        all,
        () -> lag,
        new Patience(Duration.ofMinutes(1), clocks, printed),
        printed);
  }

  private static List<MessageExt> messages(int bytes) {
    MessageExt message = new MessageExt();
    message.setBody(new byte[bytes]);
    return List.of(message);
  }

  @Test
  void requestsWaitForTheRate() throws Exception {
    PacedReader reader = reader(1_000, 100);
    for (int i = 0; i < 5; i++) {
      reader.read(from -> messages(500), i);
    }
    // The last request's share of the rate delays the next one.
    assertThat(nowNanos).isEqualTo(TimeUnit.MILLISECONDS.toNanos(2_000));
    nowNanos += TimeUnit.HOURS.toNanos(1);
    long sinceNanos = nowNanos;
    reader.read(from -> messages(500), 5);
    reader.read(from -> messages(500), 6);
    assertThat(nowNanos - sinceNanos).isEqualTo(TimeUnit.MILLISECONDS.toNanos(500));
    assertThat(reader.messages()).isEqualTo(7);
    assertThat(reader.bytes()).isEqualTo(3_500);
    assertThat(out.toString().lines())
        .startsWith("5 of at most 100 messages, 0.0 MB/s, at most 0:00:38 left");
  }

  @Test
  void requestsWithoutAnAnswerAreRepeated() throws Exception {
    int[] failures = {4};
    SpanTopic.Messages log =
        from -> {
          if (failures[0]-- > 0) {
            throw new NoAnswerException("no answer", null);
          }
          return messages(1);
        };
    PacedReader reader = reader(1_000_000, 1);
    assertThat(reader.read(log, 0)).hasSize(1);
    assertThat(out.toString().lines()).contains("no answer; trying again for up to 60 s");

    failures[0] = Integer.MAX_VALUE;
    long sinceNanos = nowNanos;
    assertThatThrownBy(() -> reader.read(log, 1)).hasMessage("no answer");
    assertThat(Duration.ofNanos(nowNanos - sinceNanos))
        .isBetween(Duration.ofMinutes(1), Duration.ofSeconds(61));
  }

  @Test
  void refusedRequestsAreNotRepeated() {
    SpanTopic.Messages log =
        from -> {
          throw new IOException("no right to read");
        };
    assertThatThrownBy(() -> reader(1_000_000, 1).read(log, 0)).hasMessage("no right to read");
    assertThat(nowNanos).isZero();
  }

  @Test
  void requestsWaitWhileServersLag() throws Exception {
    PacedReader reader = reader(1_000_000_000, 1);
    lag = 2;
    reader.read(from -> messages(1), 0);
    assertThat(nowNanos).isEqualTo(TimeUnit.SECONDS.toNanos(10));
    assertThat(out.toString().lines())
        .startsWith(
            "Pausing for 5 s: servers have not committed 2 older messages",
            "Pausing for 5 s: servers have not committed 1 older messages");

    // The next look is after a while.
    lag = 1;
    nowNanos += TimeUnit.SECONDS.toNanos(4);
    long sinceNanos = nowNanos;
    reader.read(from -> messages(1), 1);
    assertThat(nowNanos).isEqualTo(sinceNanos);
    nowNanos += TimeUnit.SECONDS.toNanos(1);
    reader.read(from -> messages(1), 2);
    assertThat(nowNanos).isEqualTo(sinceNanos + TimeUnit.SECONDS.toNanos(6));
  }
}
