package org.traceetl.perf.simulate.agent;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.traceetl.agent.config.AgentConfig;
import org.traceetl.agent.publish.DecisionsWatch;
import org.traceetl.agent.publish.Transport;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.perf.simulate.world.World;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;

/**
 * Two brokers that store each batch, and answer late, wrongly or never. Records under which names
 * spans arrived.
 */
final class StubBrokers {
  private static final int MOST_NANOS = 20_000_000;

  private final World world;
  private final RandomGenerator random;
  private final List<BrokerQueue> queues = new ArrayList<>();
  private final SpanBatchReader reader = new SpanBatchReader();

  /** The names of the batches in which a span arrived, by the span's name in the index. */
  final Map<String, List<String>> namesOfSpans = new HashMap<>();

  private final Map<String, byte[]> bodies = new HashMap<>();
  private boolean bad;
  int repeats;

  StubBrokers(World world) {
    this.world = world;
    random = world.random();
    for (int i = 0; i < 8; i++) {
      queues.add(new BrokerQueue("broker-" + i % 2, i / 2));
    }
  }

  /** Sets whether answers are lost. */
  void bad(boolean now) {
    bad = now;
  }

  Transport.Connector transports(Process process) {
    return (AgentConfig config, AgentIdentity agent) -> new Connection(process);
  }

  private void store(BrokerQueue queue, byte[] body) {
    Rejection rejection = reader.wrap(body, 0, body.length);
    String name =
        String.format(
            "%x%x %d %s %d",
            reader.agentHigh(), reader.agentLow(), reader.epoch(), queue, reader.sequence());
    byte[] before = bodies.putIfAbsent(name, body);
    if (before != null) {
      repeats++;
      if (!Arrays.equals(before, body)) {
        throw new IllegalStateException("two batches have the name " + name);
      }
      return;
    }
    while (rejection == Rejection.NONE && reader.next()) {
      namesOfSpans
          .computeIfAbsent(
              SentSpan.id(reader.traceIdHigh(), reader.traceIdLow(), reader.spanId()),
              span -> new ArrayList<>())
          .add(name);
    }
    if (rejection != Rejection.NONE || reader.rejection() != Rejection.NONE) {
      throw new IllegalStateException("batch " + name + " is not valid");
    }
  }

  private final class Connection implements Transport {
    private final Process process;

    Connection(Process process) {
      this.process = process;
    }

    @Override
    public void send(BrokerQueue queue, byte[] message, Supplier<String> ages, Answer answer) {
      process.enter("send");
      byte[] body = message.clone();
      int trouble = bad ? random.nextInt(10) : 9;
      world.after(
          random.nextInt(MOST_NANOS),
          () -> {
            if (trouble > 0) {
              store(queue, body);
            }
            world.after(random.nextInt(MOST_NANOS), () -> answer(trouble, answer));
          });
    }

    private void answer(int trouble, Answer answer) {
      if (!process.alive()) {
        return;
      }
      switch (trouble) {
        case 0 -> answer.failed(Failure.CONNECT, "refused");
        case 1 -> answer.failed(Failure.TIMEOUT, "no answer");
        case 2 -> answer.failed(Failure.FLUSH_SLAVE_TIMEOUT, "no replica");
        case 3 -> {
          // No answer.
        }
        default -> answer.confirmed();
      }
    }

    @Override
    public List<BrokerQueue> queues() throws IOException {
      process.enter("queues");
      try {
        world.sleep(random.nextInt(MOST_NANOS));
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      return queues;
    }

    @Override
    public DecisionsWatch.Newest newest(String topic, DecisionsWatch.Place known) {
      process.enter("newest");
      return new DecisionsWatch.Newest(DecisionsWatch.Place.NONE, List.of());
    }

    @Override
    public void close() {}
  }
}
