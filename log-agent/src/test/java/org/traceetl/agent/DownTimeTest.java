package org.traceetl.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.ConfigReader;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.publish.MemoryTransport;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.source.otlp.Samples;
import org.traceetl.common.Clocks;
import org.traceetl.proto.BatchAges;

/** A whole agent that was down while it had batches. */
final class DownTimeTest {
  private static final Duration DOWN = Duration.ofMinutes(10);

  private final Topic topic = new Topic();
  private Duration wallError = Duration.ZERO;

  @TempDir private Path directory;

  private RunningAgent start() throws IOException {
    String yaml =
        """
        state-directory: %s
        otlp: {host: 127.0.0.1, grpc-port: 0, http-port: 0}
        telemetry: {enabled: false}
        ring: {enabled: false}
        routing: {hotspots: false, learnt-names: false}
        """
            .formatted(directory);
    Instant wall = Instant.now().plus(wallError);
    return RunningAgent.start(
        ConfigReader.read(yaml, Map.of()).config(),
        new Platform(
            new Clocks(System::nanoTime, () -> wall),
            new Random(7),
            Disk.SYSTEM,
            (config, identity) -> topic,
            "host"));
  }

  @Test
  void batchesOfAnEarlierRunAreOlderByTheDownTime() throws Exception {
    topic.mode(MemoryTransport.Mode.UNREACHABLE);
    try (RunningAgent agent = start()) {
      await().until(() -> agent.problem().isEmpty());
      Answered answered = new Answered();
      assertThat(agent.otlpRequests().offer(Samples.successful(3).toByteArray(), answered))
          .isEqualTo(Admission.ACCEPTED);
      await().untilTrue(answered.confirmed);
    }
    wallError = DOWN;
    topic.mode(MemoryTransport.Mode.CONFIRM);
    try (RunningAgent agent = start()) {
      await().until(() -> !topic.stored().isEmpty());
      assertThat(agent.problem()).isEmpty();
    }

    BatchAges ages = new BatchAges();
    assertThat(ages.read(topic.ages().getLast())).isTrue();
    assertThat(ages.of(0)).isGreaterThan((int) DOWN.minusMinutes(1).toMillis());
  }

  private static final class Topic extends MemoryTransport {
    @Override
    public List<BrokerQueue> queues() {
      return List.of(new BrokerQueue("broker-a", 0));
    }
  }

  private static final class Answered implements Completion {
    private final AtomicBoolean confirmed = new AtomicBoolean();

    @Override
    public void confirmed(int accepted, int rejected, String reason) {
      confirmed.set(true);
    }

    @Override
    public void malformed(String reason) {
      throw new AssertionError(reason);
    }

    @Override
    public void failed(String reason) {
      throw new AssertionError(reason);
    }
  }
}
