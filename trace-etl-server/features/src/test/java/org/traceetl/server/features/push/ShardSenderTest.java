package org.traceetl.server.features.push;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.HistogramConfig.Kind;

class ShardSenderTest {
  private static final int MOST = 2;

  private final List<String> sent = new ArrayList<>();

  /** Encodes no more than two entries at once. */
  private static final class SmallEncoder implements RequestEncoder {
    private byte[] body = {};

    @Override
    public boolean encode(WriteRequest of, int from, int to, Protocol protocol) {
      body = (from + "-" + to).getBytes(UTF_8);
      return to - from <= MOST;
    }

    @Override
    public byte[] body() {
      return body;
    }

    @Override
    public int length() {
      return body.length;
    }
  }

  private final class Transport implements WriteTransport {
    @Override
    public Answer send(Protocol protocol, byte[] body, int length) {
      sent.add(new String(body, 0, length, UTF_8));
      return new Answer(200, UNKNOWN, UNKNOWN, 0, "");
    }

    @Override
    public void close() {
      // Nothing is open.
    }
  }

  @Test
  void aRequestThatIsTooLargeIsSentInParts() throws Exception {
    EndpointState state = new EndpointState("default", Protocol.OTLP, Clocks.SYSTEM);
    ShardSender sender =
        new ShardSender("push-0", state, new SmallEncoder(), new Transport(), Clocks.SYSTEM);
    QueueSamples samples =
        new QueueSamples(
            PushFixture.QUEUE, PushFixture.otlp(Kind.CLASSIC), List.of(sender), 100, () -> {});
    PushFixture.definitions(5)
        .forEach(series -> PushFixture.sample(samples, series, 60_000, 1, 0, 0));
    samples.end(7);
    while (samples.answered() != 7) {
      sender.doWork();
    }

    assertThat(sent).containsExactly("0-2", "2-3", "3-5");
    assertThat(state.telemetry().samples()).isEqualTo(10);
    assertThat(state.telemetry().retries()).isZero();
  }
}
