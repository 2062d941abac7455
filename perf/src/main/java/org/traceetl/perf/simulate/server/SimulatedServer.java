package org.traceetl.perf.simulate.server;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.traceetl.perf.simulate.world.Exchange;
import org.traceetl.perf.simulate.world.Host;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.perf.simulate.world.World;
import org.traceetl.server.ServerAssembly;
import org.traceetl.server.ServerPlatform;
import org.traceetl.server.assembly.Brokers;
import org.traceetl.server.binding.Features;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.consume.SpanPipeline;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Page;
import org.traceetl.server.features.completeness.Completeness;
import org.traceetl.server.features.completeness.CompletenessFeature;
import org.traceetl.server.features.history.History;
import org.traceetl.server.features.history.HistoryFeature;
import org.traceetl.server.features.index.IndexType;
import org.traceetl.server.features.pages.PagesFeature;
import org.traceetl.server.features.push.PushType;
import org.traceetl.server.features.rules.RulesType;
import org.traceetl.server.http.FeatureType;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.web.ServerComponents;

/**
 * A server of the production classes, without its HTTP port. It can be started again after it was
 * killed or drained: as another process, which knows only what brokers and index have.
 */
public final class SimulatedServer extends Host implements Scraper.Target {
  private static final int PORT = 8080;
  private static final Encoding PLAIN_TEXT = Encoding.of(Format.TEXT, false);
  private static final Encoding OPEN_METRICS = Encoding.of(Format.OPENMETRICS, false);

  /** As Prometheus by default. */
  private static final long SCRAPE_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final Duration MOST_RENDERING = Duration.ofSeconds(9);

  private final ServerConfig config;
  private final Function<Process, Brokers> brokers;
  private final SimulatedIndex index;
  private final SimulatedReceiver receiver;
  private final SimulatedRules rules;
  private int starts;

  /** The process that received SIGTERM last; null before. */
  private Process draining;

  /** Null before the process has assembled them. */
  private ServerComponents running;

  /**
   * @param brokers returns the brokers' clients of a process
   * @param rules have a file of this server
   */
  public SimulatedServer(
      World world,
      String name,
      ServerConfig config,
      Function<Process, Brokers> brokers,
      SimulatedIndex index,
      SimulatedReceiver receiver,
      SimulatedRules rules) {
    super(world, name);
    this.config = config;
    this.brokers = brokers;
    this.index = index;
    this.receiver = receiver;
    this.rules = rules;
  }

  @Override
  protected Process launch() {
    starts++;
    running = null;
    Process started = world.process(name());
    started.start("main", () -> run(started));
    return started;
  }

  private void run(Process started) {
    ServerComponents components =
        ServerAssembly.assemble(
            config,
            new ServerPlatform(
                started.clocks(), started.random(), brokers.apply(started), features(started)));
    components.components().start(new Endpoint(false, name(), PORT));
    running = components;
  }

  private List<FeatureType> features(Process started) {
    List<FeatureType> features = new ArrayList<>();
    for (FeatureType type : Features.ALL) {
      features.add(
          switch (type) {
            case IndexType ofIndex -> new IndexType(index.opener(started));
            case PushType ofPush -> new PushType(receiver.opener(started));
            case RulesType ofRules -> new RulesType(file -> rules.content(name()));
            default -> type;
          });
    }
    return features;
  }

  /** A second signal has no effect, because a JVM runs its shutdown hooks once. */
  @Override
  public void drain() {
    if (process() == draining) {
      return;
    }
    if (running == null || !isRunning()) {
      kill(0);
      return;
    }
    Process ending = process();
    draining = ending;
    ServerComponents components = running;
    ending.start(
        "shutdown",
        () -> {
          components.components().drain(config.drainWithin());
          // The port closes before the components.
          running = null;
          components.close();
          world.after(0, ending::kill);
        });
  }

  @Override
  public Scraper.Request request(boolean whole) {
    return request(PLAIN_TEXT, whole);
  }

  /** Requests the whole page in OpenMetrics, which has created times. */
  public Scraper.Request openMetrics() {
    return request(OPEN_METRICS, true);
  }

  private Scraper.Request request(Encoding encoding, boolean whole) {
    ServerComponents scraped = running;
    if (scraped == null || !isRunning()) {
      return () -> null; // the connection is refused
    }
    Exchange<Optional<Scraper.Answer>> answer = new Exchange<>(world);
    String unique = run();
    process().start("scrape", () -> answer.answer(answer(unique, scraped, encoding, whole)));
    return () -> {
      Optional<Scraper.Answer> given = answer.await(SCRAPE_TIMEOUT_NANOS);
      return given == null ? null : given.orElse(null);
    };
  }

  private Optional<Scraper.Answer> answer(
      String unique, ServerComponents scraped, Encoding encoding, boolean whole) {
    try {
      PagesFeature pages = scraped.components().of(PagesFeature.class).getFirst();
      Page page = whole ? pages.page(encoding) : pages.pages().page(encoding, MOST_RENDERING);
      var bytes = new ByteArrayOutputStream(Math.toIntExact(page.bytes()));
      page.writeTo(bytes);
      return Optional.of(
          new Scraper.Answer(unique, world.nanos(), page::current, bytes.toByteArray()));
    } catch (TimeoutException | IllegalStateException e) {
      return Optional.empty(); // a 503
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } catch (IOException e) {
      throw new IllegalStateException("writing to memory", e);
    }
  }

  /** Returns whether {@code /ready} returns 200. */
  public boolean ready() {
    return running != null && isRunning() && running.components().ready();
  }

  /** Returns what {@code /ready} says is missing. */
  public Map<String, String> missing() {
    return running == null || !isRunning()
        ? Map.of("process", "does not run")
        : running.components().missing();
  }

  /** Returns whether no thread of the server has failed; true without a process. */
  public boolean healthy() {
    return running == null || !isRunning() || running.components().healthy();
  }

  /** Returns the history of the fleet; null without a process. */
  public History history() {
    return running == null || !isRunning()
        ? null
        : running.components().of(HistoryFeature.class).getFirst().history();
  }

  /** Returns a name of the last process that no other process has. */
  public String run() {
    return name() + "." + starts;
  }

  /** Returns until when the fleet's spans are complete; null without a process. */
  public Completeness completeness() {
    return running == null || !isRunning()
        ? null
        : running.components().of(CompletenessFeature.class).getFirst().completeness();
  }

  /** Returns the queues that the server reads; empty without a process. */
  public List<QueueStatus> queues() {
    return running == null || !isRunning()
        ? List.of()
        : running.components().of(SpanPipeline.class).getFirst().queues();
  }
}
