package org.traceetl.perf.demand;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.traceetl.agent.Platform;
import org.traceetl.agent.RunningAgent;
import org.traceetl.agent.config.AgentConfig;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.config.PublishConfig.Bundles;
import org.traceetl.agent.config.RoutingConfig;
import org.traceetl.agent.config.WatchedFile;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.publish.DecisionsWatch;
import org.traceetl.agent.publish.Transport;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.source.otlp.OtlpRequests;
import org.traceetl.perf.simulate.agent.AgentSettings;
import org.traceetl.perf.simulate.agent.SimulatedDisk;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.perf.simulate.world.Timeline;
import org.traceetl.perf.simulate.world.World;
import org.traceetl.proto.BundleReader;
import org.traceetl.proto.Heartbeat;
import org.traceetl.proto.Rejection;
import org.traceetl.testkit.PageSample;

/** A whole agent in simulated time, and brokers that confirm each message. */
final class AgentRun {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final Path FILTERS = Path.of("/simulated/filters.yaml");
  private static final int POLL_MILLIS = 5_000;
  private static final List<BrokerQueue> QUEUES =
      List.of(new BrokerQueue("broker", 0), new BrokerQueue("broker", 1));

  private final World world = new World(1, new Timeline(10));
  private final Process process = world.process("agent");
  private final List<byte[]> records;
  private final SortedMap<Integer, List<byte[]>> messages = new TreeMap<>();
  private RunningAgent agent;
  private OtlpRequests requests;
  private int answered;

  /**
   * Starts an agent, and waits until it has read the records of the servers.
   *
   * @param filters content of the filters file
   * @param bundles whether it may send bundles
   * @param records in the topic of the servers' decisions, oldest first
   */
  AgentRun(
      PipelineConfig pipeline,
      String filters,
      DetailConfig detail,
      Bundles bundles,
      List<byte[]> records) {
    this.records = records;
    SimulatedDisk disk = new SimulatedDisk(world);
    disk.replace(FILTERS, filters.getBytes(UTF_8));
    Platform platform =
        new Platform(
            process.clocks(),
            process.random(),
            disk.of(process),
            (config, identity) -> new Connection(),
            "host");
    process.start(
        "main",
        () -> {
          try {
            agent = RunningAgent.start(config(pipeline, detail, bundles), platform);
            requests = agent.otlpRequests();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
    pass(5);
  }

  private static AgentConfig config(PipelineConfig pipeline, DetailConfig detail, Bundles bundles) {
    PublishConfig publish = PublishConfig.defaults();
    AgentConfig small = AgentSettings.small("agent", "trace-spans");
    return new AgentConfig(
        small.stateDirectory(),
        small.drainTimeoutMillis(),
        small.otlp(),
        small.files(),
        small.ring(),
        pipeline,
        small.spool(),
        RoutingConfig.defaults(),
        Optional.of(new WatchedFile(FILTERS, POLL_MILLIS)),
        detail,
        new PublishConfig(
            publish.nameServer(),
            publish.topic(),
            publish.edgesTopic(),
            publish.producerGroup(),
            publish.accessKey(),
            publish.secretKey(),
            publish.sendTimeoutMillis(),
            publish.retryFirstMillis(),
            publish.retryMaxMillis(),
            publish.routeRefreshMillis(),
            Optional.empty(),
            bundles,
            publish.lingerMillis()),
        small.telemetry());
  }

  long unixMillis() {
    return world.unixMillis();
  }

  /** Lets time pass. */
  void pass(int seconds) {
    world.run(world.nanos() + seconds * SECOND);
  }

  /** Sends requests one after the other, and waits until all batches are published. */
  void send(List<byte[]> payloads) {
    answered = 0;
    for (byte[] payload : payloads) {
      process.start(
          "request",
          () -> assertThat(requests.offer(payload, new Answered())).isEqualTo(Admission.ACCEPTED));
      pass(1);
    }
    assertThat(answered).isEqualTo(payloads.size());
    assertThat(PageSample.sum(page(), "trace_etl_agent_spool_batches")).isZero();
  }

  /** Returns the bodies of the published messages, by number of their queue. */
  SortedMap<Integer, List<byte[]>> messages() {
    return messages;
  }

  /** Returns the published batches, also those in bundles. */
  SortedMap<Integer, List<byte[]>> batches() {
    SortedMap<Integer, List<byte[]>> batches = new TreeMap<>();
    messages.forEach(
        (queue, bodies) -> batches.put(queue, bodies.stream().flatMap(AgentRun::batches).toList()));
    return batches;
  }

  private static Stream<byte[]> batches(byte[] message) {
    if (Heartbeat.begins(message)) {
      return Stream.empty();
    }
    if (!BundleReader.begins(message, 0, message.length)) {
      return Stream.of(message);
    }
    BundleReader bundle = new BundleReader();
    assertThat(bundle.wrap(message, 0, message.length)).isEqualTo(Rejection.NONE);
    return IntStream.range(0, bundle.count())
        .mapToObj(part -> {
          int from = bundle.offset(part);
          return Arrays.copyOfRange(message, from, from + bundle.length(part));
        });
  }

  List<PageSample> page() {
    try {
      return PageSample.of(agent.metricsPage());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private final class Answered implements Completion {
    @Override
    public void confirmed(int accepted, int rejected, String reason) {
      answered++;
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

  private final class Connection implements Transport {
    @Override
    public void send(BrokerQueue queue, byte[] message, Supplier<String> ages, Answer answer) {
      messages.computeIfAbsent(queue.id(), first -> new ArrayList<>()).add(message.clone());
      world.after(0, answer::confirmed);
    }

    @Override
    public List<BrokerQueue> queues() {
      return QUEUES;
    }

    @Override
    public DecisionsWatch.Newest newest(String topic, DecisionsWatch.Place known) {
      DecisionsWatch.Place place = new DecisionsWatch.Place("broker", records.size());
      return new DecisionsWatch.Newest(place, place.equals(known) ? List.of() : records);
    }

    @Override
    public void close() {}
  }
}
