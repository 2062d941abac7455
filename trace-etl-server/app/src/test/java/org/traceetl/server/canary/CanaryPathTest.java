package org.traceetl.server.canary;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.canary.SpanSender.Answer;
import org.traceetl.server.canary.SpanSender.Outcome;

/** Which stage a path names, with scripted answers and a clock that the test moves. */
final class CanaryPathTest {
  private static final Duration DEADLINE = Duration.ofSeconds(45);
  private static final Duration LOST_AFTER = Duration.ofHours(1);
  private static final Answer ACCEPTED = new Answer(Outcome.ACCEPTED, 0, "");
  private static final Answer REFUSED = Answer.failed(Outcome.REFUSED, "Connection refused");
  private static final Answer UNKNOWN = Answer.failed(Outcome.UNKNOWN, "timeout");

  private final AtomicLong nowNanos = new AtomicLong(-5);
  private final List<byte[]> sent = new ArrayList<>();
  private Answer answer = ACCEPTED;
  private CanaryPath path;
  private long shown;
  private String problem = "";
  private boolean isBrokerAway;

  @BeforeEach
  void create() {
    create(null);
  }

  private void create(URI prometheus) {
    Clocks clocks =
        new Clocks(nowNanos::get, () -> Instant.EPOCH.plusNanos(Math.max(0, nowNanos.get())));
    SpanNames names = new SpanNames(new Random(1));
    CanaryConfig config =
        new CanaryConfig(
            URI.create("http://agent:4318"),
            null,
            null,
            null,
            List.of(URI.create("http://server:8080")),
            false,
            prometheus,
            "canary",
            "calls_total",
            Duration.ofSeconds(5),
            DEADLINE,
            LOST_AFTER,
            null,
            null,
            null,
            null,
            0);
    SpanSender sender =
        new SpanSender() {
          @Override
          public Answer send(Probe probe) {
            sent.add(probe.body());
            return answer;
          }

          @Override
          public void close() {}
        };
    path =
        new CanaryPath(
            "http",
            sender,
            name -> Probe.of("canary", names, name, clocks.millis(), new Random(sent.size())),
            config,
            clocks);
  }

  private void step() throws InterruptedException {
    path.send();
    Pages.Page page = new Pages.Page(Map.of("http", Map.of("series", shown)), isBrokerAway, 0);
    Pages.Answers answers = new Pages.Answers(List.of(page), null, problem);
    path.show(answers);
    path.judge(answers);
  }

  private void stepAfter(Duration time) throws InterruptedException {
    nowNanos.addAndGet(time.toNanos());
    step();
  }

  private Stage red() {
    return path.figures().red();
  }

  @Test
  void theNextProbeFollowsWhenAllSpansAreOnPages() throws Exception {
    step();
    stepAfter(Duration.ofSeconds(5));
    shown = 3;
    stepAfter(Duration.ofSeconds(5));
    assertThat(sent).hasSize(1);

    shown = 4;
    stepAfter(Duration.ofSeconds(5));
    stepAfter(Duration.ofSeconds(5));

    assertThat(sent).hasSize(2);
    assertThat(path.figures().expected()).isEqualTo(8);
    assertThat(path.figures().seen()).isEqualTo(4);
    assertThat(path.figures().delaySeconds()).isEqualTo(15);
    assertThat(red()).isNull();
  }

  @Test
  void anAgentThatRefusesIsNamedAndExpectsNothing() throws Exception {
    answer = REFUSED;
    step();
    stepAfter(DEADLINE);
    assertThat(red()).isNull();
    stepAfter(Duration.ofSeconds(5));
    assertThat(red()).isEqualTo(Stage.AGENT);
    assertThat(path.figures().expected()).isZero();
    assertThat(path.figures().unanswered()).isZero();

    answer = ACCEPTED;
    stepAfter(Duration.ofSeconds(5));
    assertThat(red()).as("until the probe has passed").isEqualTo(Stage.AGENT);
    shown = 4;
    stepAfter(Duration.ofSeconds(5));

    assertThat(red()).isNull();
    assertThat(sent).allMatch(body -> body == sent.getFirst());
    assertThat(path.figures().expected()).isEqualTo(4);
    assertThat(path.figures().wrong()).isZero();
  }

  @Test
  void unansweredRequestsMayBeSeenOrNot() throws Exception {
    answer = UNKNOWN;
    step();
    assertThat(path.figures().unanswered()).isEqualTo(4);
    shown = 4;
    stepAfter(Duration.ofMinutes(9));
    assertThat(red()).isEqualTo(Stage.AGENT);
    assertThat(path.figures().expected()).isZero();
    assertThat(path.figures().wrong()).isZero();

    answer = ACCEPTED;
    stepAfter(Duration.ofSeconds(5));
    shown = 8;
    stepAfter(Duration.ofSeconds(5));

    assertThat(sent.getFirst()).as("given up").isNotEqualTo(sent.getLast());
    assertThat(path.figures().wrong()).isZero();
    assertThat(red()).isNull();
  }

  @Test
  void whatServersSayTellsTheirStagesApart() throws Exception {
    step();
    stepAfter(DEADLINE.plusSeconds(1));
    assertThat(red()).isEqualTo(Stage.PIPELINE);
    problem = "http://server:8080: Connection refused";
    stepAfter(Duration.ofSeconds(5));
    assertThat(red()).isEqualTo(Stage.SERVER);
    isBrokerAway = true;
    stepAfter(Duration.ofSeconds(5));
    assertThat(red()).isEqualTo(Stage.BROKER);
    shown = 4;
    stepAfter(Duration.ofSeconds(5));
    assertThat(red()).isNull();
  }

  @Test
  void spansThatCountTwiceAndLostOnesAreMismatches() throws Exception {
    step();
    shown = 5;
    stepAfter(Duration.ofSeconds(5));
    assertThat(path.figures().wrong()).isEqualTo(1);
    stepAfter(Duration.ofSeconds(5));
    assertThat(path.figures().expected()).isEqualTo(8);
    shown = 7;
    stepAfter(DEADLINE.plusSeconds(1));
    assertThat(red()).isEqualTo(Stage.PIPELINE);
    assertThat(path.figures().wrong()).isEqualTo(1);
    stepAfter(LOST_AFTER);
    assertThat(red()).as("until a probe has passed").isEqualTo(Stage.PIPELINE);
    assertThat(path.figures().wrong()).isEqualTo(3);

    stepAfter(Duration.ofSeconds(5));
    shown = 11;
    stepAfter(Duration.ofSeconds(5));

    assertThat(red()).isNull();
    assertThat(path.figures().wrong()).isEqualTo(3);
  }

  @Test
  void prometheusIsNamedWhilePagesHaveTheSpans() throws Exception {
    create(URI.create("http://prometheus:9090"));
    step();
    shown = 4;
    stepAfter(Duration.ofSeconds(5));
    shown = 8;
    stepAfter(Duration.ofSeconds(5));
    assertThat(red()).isNull();
    stepAfter(DEADLINE);
    assertThat(red()).isEqualTo(Stage.PROMETHEUS);

    path.store(Map.of("series", 8L));
    stepAfter(Duration.ofSeconds(1));

    assertThat(red()).isNull();
  }

  @Test
  void prometheusHasHalfOfTheDeadlineAfterLatePages() throws Exception {
    create(URI.create("http://prometheus:9090"));
    step();
    shown = 4;
    stepAfter(DEADLINE);
    stepAfter(DEADLINE.dividedBy(2));
    assertThat(red()).isNull();

    stepAfter(Duration.ofSeconds(1));

    assertThat(red()).isEqualTo(Stage.PROMETHEUS);
  }

  @Test
  void aRejectedSpanIsRedAtOnce() throws Exception {
    answer = new Answer(Outcome.ACCEPTED, 1, "");
    step();
    assertThat(red()).isEqualTo(Stage.AGENT);
    assertThat(path.figures().expected()).isEqualTo(3);
  }
}
