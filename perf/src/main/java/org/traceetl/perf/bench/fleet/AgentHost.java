package org.traceetl.perf.bench.fleet;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * A process with many agents, each with its own identity, state directory, spool, pipeline and
 * RocketMQ client. They share the JVM: its heap, its compiled code and its collections of garbage.
 * Its port answers {@code /ready} with 200 when all agents run, {@code /figures} with what they
 * did, and stops the load at {@code /stop}.
 */
@Command(name = "agent-host", description = "Runs many agents in this process.")
public final class AgentHost implements Callable<Integer> {
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  @Option(names = "--port", required = true)
  private int port;

  @Option(names = "--directory", required = true)
  private Path directory;

  @Option(names = "--name-server", required = true)
  private String nameServer;

  @Option(names = "--first", required = true)
  private int first;

  @Option(names = "--agents", required = true)
  private int count;

  @Option(names = "--applications", required = true)
  private int applications;

  @Option(names = "--applications-of-host", required = true)
  private int applicationsOfHost;

  @Option(names = "--operations", required = true)
  private int operations;

  @Option(names = "--rate", required = true)
  private double rate;

  private final List<HostedAgent> agents = new ArrayList<>();
  private volatile boolean ready;
  private volatile boolean stopped;
  private final LongAdder refused = new LongAdder();

  public static void main(String... arguments) {
    System.exit(new CommandLine(new AgentHost()).execute(arguments));
  }

  @Override
  public Integer call() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    answer(server, "/ready", () -> ready ? "" : null);
    answer(server, "/figures", this::figures);
    answer(
        server,
        "/stop",
        () -> {
          stopped = true;
          return "";
        });
    server.start();
    for (int i = first; i < first + count; i++) {
      agents.add(
          HostedAgent.start(
              Files.createDirectories(directory.resolve("agent-" + i)),
              nameServer,
              applicationsOf(i),
              operations,
              i));
    }
    ready = true;
    load();
    return 0;
  }

  /** Returns the applications of a host. All hosts together have each about equally often. */
  private List<Integer> applicationsOf(int host) {
    List<Integer> own = new ArrayList<>();
    for (int i = 0; i < applicationsOfHost; i++) {
      own.add((int) (((long) host * applicationsOfHost + i) % applications));
    }
    return own;
  }

  /** In each second, one application of each agent exports the agent's spans of this second. */
  private void load() {
    long startNanos = System.nanoTime();
    double due = 0;
    for (long turn = 0; true; turn++) {
      HostedAgent agent = agents.get((int) (turn % count));
      long atNanos = startNanos + turn * SECOND_NANOS / count;
      while (System.nanoTime() < atNanos) {
        LockSupport.parkNanos(atNanos - System.nanoTime());
      }
      if (turn % count == 0) {
        due = due - Math.floor(due) + rate;
      }
      if (!stopped && (int) due > 0 && agent.export((int) due) == 0) {
        refused.increment();
      }
    }
  }

  private String figures() throws IOException {
    long accepted = 0;
    long failed = 0;
    double published = 0;
    int withDemand = 0;
    for (HostedAgent agent : agents) {
      accepted += agent.accepted();
      failed += agent.failed();
      String page = agent.metricsPage();
      published += value(page, "trace_etl_agent_spans_published_total");
      withDemand += value(page, "trace_etl_agent_demand_version") > 0 ? 1 : 0;
    }
    return "accepted %d%nfailed %d%nrefused %d%npublished %.0f%nwith_demand %d%n"
        .formatted(accepted, failed, refused.sum(), published, withDemand);
  }

  /** Returns a metric without labels. Hundreds of pages are looked at, so none is read whole. */
  private static double value(String page, String name) {
    int begin = page.indexOf("\n" + name + " ") + name.length() + 2;
    return Double.parseDouble(page.substring(begin, page.indexOf('\n', begin)));
  }

  /** An answer; null: not yet. */
  private interface Answer {
    String get() throws IOException;
  }

  private static void answer(HttpServer server, String path, Answer answer) {
    server.createContext(
        path,
        exchange -> {
          try (exchange) {
            String text = answer.get();
            byte[] body = (text == null ? "" : text).getBytes(UTF_8);
            exchange.sendResponseHeaders(
                text == null ? 503 : 200, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
          }
        });
  }
}
