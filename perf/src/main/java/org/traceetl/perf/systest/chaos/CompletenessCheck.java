package org.traceetl.perf.systest.chaos;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.PrintStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.traceetl.testkit.Program;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Stops two agents and compares the answers of {@code /api/completeness}. One agent is cut off for
 * less than the silence: its queues must wait for it and name it. The other one is lost: queues
 * must exclude it, name it as excluded and be complete again. The lost agent has nothing to send,
 * because its spans would be late when it returns.
 */
final class CompletenessCheck {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final Duration INTERVAL = Duration.ofMillis(500);
  private static final Duration SENT_LIMIT = Duration.ofSeconds(60);

  /** In addition to the silence: until the agent is excluded, and until all queues are complete. */
  private static final Duration EXCLUDED_LIMIT = Duration.ofSeconds(60);

  private static final int CUT = 0;
  private static final int LOST = 1;

  private final ChaosInstallation installation;
  private final Observer observer;
  private final SpanLoad load;
  private final HttpClient http;
  private final PrintStream out;
  private final PaneSchedule panes;

  CompletenessCheck(
      ChaosInstallation installation,
      Observer observer,
      SpanLoad load,
      HttpClient http,
      PrintStream out,
      PaneSchedule panes) {
    this.installation = installation;
    this.observer = observer;
    this.load = load;
    this.http = http;
    this.out = out;
    this.panes = panes;
  }

  /** A queue of the answer, with the IDs of agents. */
  private record Queue(
      String name, Instant completeUntil, List<String> heldBackBy, List<String> excluded) {
    private static Queue of(JsonNode queue) {
      JsonNode until = queue.path("completeUntil");
      return new Queue(
          queue.path("queue").asString(),
          until.isString() ? Instant.parse(until.asString()) : null,
          agents(queue.path("heldBackBy")),
          agents(queue.path("excluded")));
    }

    private static List<String> agents(JsonNode agents) {
      return agents.valueStream().map(agent -> agent.path("agent").asString()).toList();
    }

    private boolean isCompleteAfter(Instant time) {
      return completeUntil != null && completeUntil.isAfter(time);
    }
  }

  /**
   * Takes about a minute.
   *
   * @return what was wrong
   */
  List<String> run() throws IOException, InterruptedException {
    List<String> failures = new ArrayList<>();
    Program cut = installation.programs(FaultKind.Role.AGENT).get(CUT);
    Program lost = installation.programs(FaultKind.Role.AGENT).get(LOST);
    String cutId = id(CUT);
    String lostId = id(LOST);
    load.hold(LOST);
    awaitSent();
    Instant stopped = Instant.now();
    lost.kill();
    cut.pause();
    boolean isNamed = false;
    while (!isNamed && since(stopped).compareTo(ChaosInstallation.SILENCE) < 0) {
      Thread.sleep(INTERVAL);
      List<Queue> queues = queues();
      isNamed = isHeldBackBy(queues, cutId) && isHeldBackBy(queues, lostId);
      for (Queue queue : queues) {
        if ((queue.heldBackBy.contains(cutId) || queue.heldBackBy.contains(lostId))
            && queue.isCompleteAfter(stopped.plusMillis(panes.lengthMillis()))) {
          failures.add("queue is complete although it waits for a stopped agent: " + queue);
        }
      }
    }
    Instant resumed = Instant.now();
    cut.resume();
    say("completeness: two agents stopped, both named %s", isNamed ? after(stopped) : "never");
    if (!isNamed) {
      failures.add("/api/completeness did not name two stopped agents: " + queues());
    }
    boolean isExcluded = false;
    while (!isExcluded
        && since(stopped).compareTo(ChaosInstallation.SILENCE.plus(EXCLUDED_LIMIT)) < 0) {
      Thread.sleep(INTERVAL);
      List<Queue> queues = queues();
      isExcluded =
          !queues.isEmpty()
              && queues.stream().anyMatch(queue -> queue.excluded.contains(lostId))
              && queues.stream().allMatch(queue -> queue.isCompleteAfter(resumed));
    }
    say("completeness: lost agent excluded %s", isExcluded ? after(stopped) : "never");
    List<Queue> last = queues();
    if (!isExcluded) {
      failures.add("/api/completeness did not exclude a lost agent: " + last);
    }
    if (last.stream().anyMatch(queue -> queue.excluded.contains(cutId))) {
      failures.add("/api/completeness excluded an agent that had returned in time: " + last);
    }
    lost.start();
    load.release(LOST);
    return failures;
  }

  private static boolean isHeldBackBy(List<Queue> queues, String agent) {
    return queues.stream().anyMatch(queue -> queue.heldBackBy.contains(agent));
  }

  private String id(int agent) throws IOException {
    return Files.readString(installation.agentState(agent).resolve("agent-id"), US_ASCII)
        .split(" ")[0];
  }

  /** Waits until the agents have sent all; no agent is disturbed. */
  private void awaitSent() throws InterruptedException {
    Instant held = Instant.now();
    long heldNanos = System.nanoTime();
    Observation now = observer.newest();
    while ((now.askedNanos() < heldNanos || !now.complete() || now.spools().get(LOST) > 0)
        && since(held).compareTo(SENT_LIMIT) < 0) {
      Thread.sleep(INTERVAL);
      now = observer.newest();
    }
  }

  /** Returns the queues as a server knows them; empty if none of the servers knows them now. */
  private List<Queue> queues() throws InterruptedException {
    for (Program server : installation.programs(FaultKind.Role.SERVER)) {
      HttpRequest request =
          HttpRequest.newBuilder(installation.metrics(server).resolve("/api/completeness"))
              .timeout(PATIENCE)
              .build();
      try {
        HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
        JsonNode answer = JSON.readTree(response.body());
        if (answer.path("upToDate").asBoolean(false)) {
          return answer.path("queues").valueStream().map(Queue::of).toList();
        }
      } catch (IOException e) {
        // The next server is asked.
      }
    }
    return List.of();
  }

  private static Duration since(Instant time) {
    return Duration.between(time, Instant.now());
  }

  private static String after(Instant time) {
    return "after " + since(time).toSeconds() + " s";
  }

  private void say(String format, Object... arguments) {
    out.println(String.format(Locale.ROOT, format, arguments));
  }
}
