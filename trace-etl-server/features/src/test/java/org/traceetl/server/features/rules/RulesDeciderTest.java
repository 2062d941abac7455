package org.traceetl.server.features.rules;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.common.ReloadedFile;
import org.traceetl.proto.Demand;
import org.traceetl.proto.RulesRecord;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.TemplatesConfig;
import org.traceetl.server.decisions.DecisionLog;
import org.traceetl.server.features.hotspot.HotspotsConfig;
import org.traceetl.server.features.rules.RulesDecider.FileState;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.MemoryLogs.MemoryLog;
import org.traceetl.server.rules.EffectiveRules;
import org.traceetl.server.rules.PublishedRules;
import org.traceetl.server.rules.RuleKeys;
import org.traceetl.server.rules.Rules;
import org.traceetl.server.window.QueueId;

final class RulesDeciderTest {
  private static final QueueId ROUTING = new QueueId("a", 0);
  private static final Duration INTERVAL = HotspotsConfig.defaults().interval();
  private static final Duration WAIT = RulesConfig.defaults().switchAfter();
  private static final Dimension CONFIGURED = new Dimension("zone", null, null);

  private static final EffectiveRules CONFIGURATION =
      EffectiveRules.of(
          SeriesConfig.defaults().withDimensions(List.of(CONFIGURED)),
          new HistogramConfig(null),
          MetricsConfig.defaults(),
          DocumentsConfig.defaults(),
          List.of());

  private final MemoryLogs logs = new MemoryLogs();
  private final MemoryLog log = logs.open(ROUTING);
  private long nanos;
  private long nowMillis = 1_795_255_000_000L;
  private boolean away;
  private QueueId place = ROUTING;

  /** Whether the name server knows brokers of the spans. */
  private boolean brokers = true;

  /** A server that owns no queue: it does not decide on anything else. */
  private final class Server implements DecisionLog, RulesDecider.Target {
    private final List<Rules> applied = new ArrayList<>();

    /** Attributes of the dimensions in force, its template or #unit; - for the configuration. */
    private final List<String> switched = new ArrayList<>();

    private final RulesDecider decider;

    /** Whether the rules in force are known. */
    private boolean lookedFor;

    /** Whether all servers read labels. */
    private Boolean labels = true;

    /** Whether all servers read forms. */
    private Boolean forms = true;

    private Map<String, Set<String>> needs = Map.of();

    /** The content of the file: revision, threshold in milliseconds, attribute, /template or #. */
    private String content;

    Server(String content) throws IOException {
      this.content = content;
      decider =
          new RulesDecider(
              "routing",
              INTERVAL,
              content == null
                  ? null
                  : new ReloadedFile<>(
                      "rules.file", this::content, RulesDeciderTest::parse, rules -> {}),
              new DimensionSwitch(WAIT, Set.of(CONFIGURED.label())),
              this,
              this,
              new Clocks(() -> nanos, () -> Instant.ofEpochMilli(nowMillis)));
    }

    @Override
    public void check(Rules rules) {
      ConfigException.check(
          rules.dimensions().stream().noneMatch(each -> each.label().equals("kind")),
          "label",
          "kind",
          "is a label of every series");
    }

    @Override
    public void thresholds(Rules now) {
      applied.add(now);
    }

    @Override
    public void dimensions(Rules now) {
      if (now == null) {
        switched.add("-");
        return;
      }
      RuleKeys keys = now.applications().getFirst().keys();
      assertThat(keys.slowerThan()).isNull();
      if (keys.hasForm()) {
        switched.add("#" + keys.unit());
        return;
      }
      if (keys.objectives() != null) {
        switched.add("%" + keys.objectives().getFirst().name());
        return;
      }
      switched.add(
          keys.dimensions() == null
              ? keys.templates().getFirst().template()
              : keys.dimensions().getFirst().attribute());
    }

    @Override
    public void needs(Map<String, Set<String>> attributes) {
      needs = attributes;
    }

    @Override
    public Boolean labels() {
      return labels;
    }

    @Override
    public Boolean forms() {
      return forms;
    }

    @Override
    public void lookedFor() {
      lookedFor = true;
    }

    private byte[] content() throws IOException {
      if (content.isEmpty()) {
        throw new IOException("empty");
      }
      return content.getBytes(UTF_8);
    }

    private Rules last() {
      return applied.isEmpty() ? null : applied.getLast();
    }

    private FileState state() {
      return decider.status().file().state();
    }

    private String problem() {
      return decider.status().file().problem();
    }

    @Override
    public QueueId place() throws IOException {
      if (away) {
        throw new IOException("no name server");
      }
      return place;
    }

    @Override
    public JournalLog open(QueueId queue) {
      return logs.open(queue);
    }

    @Override
    public Set<QueueId> queues() {
      return brokers ? Set.of(ROUTING) : Set.of();
    }

    @Override
    public long end(QueueId queue) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Set<QueueId> owned() {
      return Set.of();
    }

    @Override
    public boolean upToDate() {
      return false;
    }
  }

  @Test
  void serverWithoutAFileFollowsTheRulesOfAnother() throws Exception {
    Server one = new Server("1 500");
    Server other = new Server(null);
    look(one, other);

    assertThat(one.applied).containsExactly(published(1, 500));
    assertThat(other.applied).containsExactly(published(1, 500));
    assertThat(one.state()).isEqualTo(FileState.IN_FORCE);
    assertThat(other.decider.status().record()).isEqualTo(one.decider.status().record());
    assertThat(other.lookedFor).isTrue();
    assertThat(log.end()).isEqualTo(1);
  }

  @Test
  void serversWithDifferentFilesAgreeWhateverTheOrder() throws Exception {
    Server earlier = new Server("1 500");
    Server later = new Server("2 200");
    look(earlier, later, earlier, later, earlier);

    assertThat(earlier.last()).isEqualTo(later.last()).isEqualTo(published(2, 200));
    assertThat(earlier.state()).isEqualTo(FileState.OLDER);
    assertThat(earlier.problem()).isEmpty();
    // A rolling restart: the next server still has the earlier file.
    Server restarted = new Server("1 500");
    look(restarted, later);
    assertThat(restarted.applied).containsExactly(published(2, 200));
    assertThat(log.end()).isEqualTo(2);
  }

  @Test
  void changedFileAppliesEverywhereOnceItIsSeenTwice() throws Exception {
    Server one = new Server("1 500");
    Server other = new Server("1 500");
    look(one, other);
    one.content = "2 200";
    look(one);
    assertThat(one.last()).isEqualTo(published(1, 500));
    look(one, other);

    assertThat(one.last()).isEqualTo(other.last()).isEqualTo(published(2, 200));
    assertThat(other.state()).isEqualTo(FileState.OLDER);
    assertThat(other.applied).hasSize(2);
  }

  @Test
  void rulesGoBackByAHigherRevision() throws Exception {
    Server server = new Server("2 200");
    look(server);
    write(server, "1 500");
    assertThat(server.last()).isEqualTo(published(2, 200));
    assertThat(server.state()).isEqualTo(FileState.OLDER);
    write(server, "3 500");

    assertThat(server.last()).isEqualTo(published(3, 500));
    assertThat(server.state()).isEqualTo(FileState.IN_FORCE);
  }

  @Test
  void revisionOfOtherRulesIsRefusedAndCountedOnce() throws Exception {
    Server one = new Server("2 200");
    Server other = new Server("2 300");
    look(one, other, one, other, other);

    assertThat(other.last()).isEqualTo(one.last()).isEqualTo(published(2, 200));
    assertThat(other.state()).isEqualTo(FileState.REFUSED);
    assertThat(other.problem()).isEqualTo("revision = 2: has other rules already; raise it");
    assertThat(other.decider.refusals())
        .isEqualTo(Map.of("file", 0L, "revision", 1L, "record", 0L));
    assertThat(log.end()).isEqualTo(1);
  }

  @Test
  void invalidFileLeavesTheRulesInForce() throws Exception {
    Server server = new Server("1 500");
    look(server);
    write(server, "soon");
    look(server);
    assertThat(server.state()).isEqualTo(FileState.REFUSED);
    assertThat(server.problem()).isEqualTo("rules.file: revision = soon: must be a number");
    write(server, "");
    assertThat(server.problem()).contains("cannot be read");
    assertThat(server.applied).containsExactly(published(1, 500));
    assertThat(server.decider.refusals())
        .isEqualTo(Map.of("file", 2L, "revision", 0L, "record", 0L));

    write(server, "2 200");
    assertThat(server.state()).isEqualTo(FileState.IN_FORCE);
    assertThat(server.last()).isEqualTo(published(2, 200));
  }

  @Test
  void ofTwoRulesOfOneRevisionTheSameHoldsEverywhere() throws Exception {
    RulesRecord one = PublishedRules.record(parse("2 200".getBytes(UTF_8)), nowMillis);
    RulesRecord other = PublishedRules.record(parse("2 300".getBytes(UTF_8)), nowMillis);
    log.append(one.encode());
    Server first = new Server(null);
    look(first);
    log.append(other.encode());
    Server second = new Server(null);
    look(first, second);

    assertThat(first.last()).isEqualTo(second.last()).isEqualTo(published(2, 300));
  }

  @Test
  void anotherRecordOfTheSameRulesAppliesNothing() throws Exception {
    Server one = new Server("1 500");
    Server other = new Server("1 500");
    look(one);
    log.append(PublishedRules.record(parse("1 500".getBytes(UTF_8)), nowMillis + 1).encode());
    look(one, other);

    assertThat(one.applied).hasSize(1);
    assertThat(other.state()).isEqualTo(FileState.IN_FORCE);
  }

  @Test
  void recordsThatCannotBeReadAreCountedAndThoseOfOtherKindsPassedBy() throws Exception {
    Server server = new Server("1 500");
    look(server);
    log.append(new Demand(nowMillis, 1, Map.of()).encode());
    byte[] forged = PublishedRules.record(parse("9 1".getBytes(UTF_8)), 1).encode();
    forged[30]++;
    log.append(forged);
    log.append(new byte[] {'T', 'E', 'R', 'U'});
    look(server);

    assertThat(server.last()).isEqualTo(published(1, 500));
    assertThat(server.decider.refusals()).containsEntry("record", 2L);
  }

  @Test
  void rulesSurviveTheLossOfTheTopicAndOfAllFiles() throws Exception {
    Server one = new Server("2 200");
    Server other = new Server(null);
    look(one, other);
    log.deleteFrom(0);
    look(other);
    Server next = new Server("1 500");
    look(next);

    assertThat(next.last()).isEqualTo(published(2, 200));
    pass(Duration.ofHours(3), other);
    assertThat(log.end()).as("records").isGreaterThan(2);
    Server last = new Server(null);
    look(last);
    assertThat(last.last()).isEqualTo(published(2, 200));
  }

  @Test
  void withoutTheTopicNoRulesApply() throws Exception {
    place = null;
    brokers = false;
    Server server = new Server("1 500");
    assertThat(server.decider.step()).isEqualTo(TimeUnit.SECONDS.toNanos(1));
    assertThat(server.problem()).isEmpty();
    brokers = true;
    nanos += TimeUnit.SECONDS.toNanos(1);
    look(server);
    assertThat(server.state()).isEqualTo(FileState.WAITING);
    assertThat(server.problem()).isEqualTo("topic routing does not exist; create it");
    assertThat(server.applied).isEmpty();
    place = ROUTING;
    look(server);

    assertThat(server.state()).isEqualTo(FileState.IN_FORCE);
    assertThat(server.applied).containsExactly(published(1, 500));
  }

  @Test
  void changesAreLimitedBecauseTheDemandKeepsEach() throws Exception {
    Server server = new Server("1 1");
    look(server);
    for (int revision = 2; revision <= RulesDecider.MAX_CHANGES + 1; revision++) {
      write(server, revision + " " + revision);
    }
    assertThat(server.last().revision()).isEqualTo(RulesDecider.MAX_CHANGES);
    assertThat(server.state()).isEqualTo(FileState.WAITING);
    assertThat(server.problem()).isEqualTo("rules changed 3 times within 15 min, the maximum");

    pass(RulesDecider.CHANGES_PER, server);
    assertThat(server.last().revision()).isEqualTo(RulesDecider.MAX_CHANGES + 1);
    assertThat(server.state()).isEqualTo(FileState.IN_FORCE);
  }

  @Test
  void fileIsReadMoreOftenThanTheTopic() throws Exception {
    away = true;
    Server server = new Server("1 500");
    assertThat(server.decider.step()).isEqualTo(TimeUnit.SECONDS.toNanos(1));
    away = false;
    nanos += TimeUnit.SECONDS.toNanos(1);
    assertThat(server.decider.step()).isEqualTo(RulesDecider.FILE_INTERVAL.toNanos());
    assertThat(new Server(null).decider.step()).isEqualTo(INTERVAL.toNanos());
  }

  @Test
  void statusIsShown() throws Exception {
    Server one = new Server("1 500");
    Server other = new Server("1 600");
    RulesResource.Sources sources = new RulesResource.Sources("rules.yaml", CONFIGURATION);

    assertThat(new RulesResource(sources).rules())
        .isEqualTo(
            new RulesResource.Answer(
                "configuration", 0, null, null, null, List.of(application(1, "zone"))));
    Instant published = Instant.ofEpochMilli(nowMillis);
    look(one, other);
    assertThat(new RulesResource(sources, one.decider::status).rules())
        .isEqualTo(
            new RulesResource.Answer(
                "file",
                1,
                published,
                null,
                new RulesResource.File("rules.yaml", 1, "in-force", null),
                List.of(application(0.5, "zone"))));
    RulesResource.Answer refused = new RulesResource(sources, other.decider::status).rules();
    assertThat(refused.source()).isEqualTo("record");
    assertThat(refused.file())
        .isEqualTo(
            new RulesResource.File(
                "rules.yaml", 1, "refused", "revision = 1: has other rules already; raise it"));
  }

  @Test
  void dimensionsFollowThresholdsAfterTheWaitAndAgentsAreAskedForBothUntilThen() throws Exception {
    Server server = new Server("1 500 region");
    pass(WAIT, server);
    assertThat(server.switched).containsExactly("region");
    write(server, "2 200 http.route");
    assertThat(server.last().revision()).isEqualTo(2);
    assertThat(server.switched).containsExactly("region");
    assertThat(server.needs).containsOnly(entry("*", Set.of("region", "http.route")));
    RulesResource.Answer waiting = answer(server);
    assertThat(waiting.applications()).containsExactly(application(0.2, "http.route"));
    assertThat(waiting.waits().formats()).isEmpty();
    assertThat(waiting.waits().until())
        .isEqualTo(waiting.published().plus(WAIT))
        .isAfter(Instant.ofEpochMilli(nowMillis));

    pass(WAIT, server);
    assertThat(server.switched).containsExactly("region", "http.route");
    assertThat(server.needs).containsOnly(entry("*", Set.of("http.route")));
    assertThat(answer(server).waits()).isNull();
    // Back: to fewer revisions of the same dimensions, then to the configuration.
    write(server, "3 100 http.route");
    assertThat(answer(server).waits()).as("only thresholds").isNull();
    pass(RulesDecider.CHANGES_PER, server);
    write(server, "4 100");
    pass(WAIT, server);
    assertThat(server.switched).containsExactly("region", "http.route", "-");
    assertThat(server.needs).isEmpty();
  }

  @Test
  void nextLookIsWhenTheWaitEnds() throws Exception {
    Server server = new Server("1 500 region");
    look(server);
    nowMillis += WAIT.minus(INTERVAL).toMillis() - 1_500;
    nanos += INTERVAL.toNanos();

    assertThat(server.decider.step()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(1_500));
  }

  @Test
  void serverThatStartsAfterTheWaitSwitchesAtOnce() throws Exception {
    Server one = new Server("1 500 region");
    pass(WAIT, one);
    Server next = new Server(null);
    look(next);

    assertThat(next.switched).containsExactly("region");
    assertThat(next.needs).containsOnly(entry("*", Set.of("region")));
  }

  @Test
  void serverThatStartsWithinTheWaitCountsByThePreviousRules() throws Exception {
    Server one = new Server("1 500 region");
    pass(WAIT, one);
    write(one, "2 500 http.route");
    Server next = new Server(null);
    look(next);
    assertThat(next.applied).extracting(Rules::revision).containsExactly(2L);
    assertThat(next.switched).containsExactly("region");
    assertThat(next.needs).containsOnly(entry("*", Set.of("region", "http.route")));

    pass(WAIT, next);
    assertThat(next.switched).containsExactly("region", "http.route");
  }

  @Test
  void revisionWithinTheWaitReplacesTheOneThatWaits() throws Exception {
    Server server = new Server("1 500 region");
    look(server);
    write(server, "2 500 http.route");
    assertThat(server.needs).containsOnly(entry("*", Set.of("http.route")));
    pass(WAIT, server);

    assertThat(server.switched).containsExactly("http.route");
  }

  @Test
  void waitIsBoundedIfTheClockOfThePublisherIsAhead() throws Exception {
    long ahead = nowMillis + Duration.ofHours(20).toMillis();
    log.append(PublishedRules.record(parse("1 500 region".getBytes(UTF_8)), ahead).encode());
    Server server = new Server(null);
    look(server);
    assertThat(server.switched).isEmpty();
    pass(WAIT, server);

    assertThat(server.switched).containsExactly("region");
  }

  @Test
  void dimensionsWaitUntilAllServersReadLabels() throws Exception {
    Server server = new Server("1 500 region");
    server.labels = null;
    pass(WAIT, server);
    assertThat(server.decider.step()).as("until it is known").isLessThan(INTERVAL.toNanos());
    nanos += INTERVAL.toNanos();
    server.labels = false;
    look(server);
    assertThat(server.switched).isEmpty();
    assertThat(server.needs).containsOnly(entry("*", Set.of("region")));
    assertThat(answer(server).waits()).isEqualTo(new RulesResource.Waits(null, List.of("labels")));
    server.labels = true;
    look(server);
    assertThat(server.switched).containsExactly("region");
    assertThat(answer(server).waits()).isNull();

    // An earlier server joins: it could not read the series.
    server.labels = false;
    look(server);
    assertThat(server.switched).containsExactly("region", "-");
  }

  @Test
  void bucketsAndUnitsWaitUntilAllServersReadThem() throws Exception {
    Server server = new Server("1 500 #");
    server.forms = null;
    pass(WAIT, server);
    assertThat(server.decider.step()).as("until it is known").isLessThan(INTERVAL.toNanos());
    nanos += INTERVAL.toNanos();
    server.forms = false;
    look(server);
    assertThat(server.switched).isEmpty();
    assertThat(answer(server).waits()).isEqualTo(new RulesResource.Waits(null, List.of("forms")));
    server.forms = true;
    look(server);
    assertThat(server.switched).containsExactly("#SECONDS");
    assertThat(answer(server).waits()).isNull();
    assertThat(answer(server).applications().getFirst().histogram().unit()).isEqualTo("seconds");

    server.forms = false;
    look(server);
    assertThat(server.switched).containsExactly("#SECONDS", "-");
  }

  @Test
  void objectivesWaitUntilAllServersReadForms() throws Exception {
    Server server = new Server("1 500 %");
    server.forms = false;
    pass(WAIT, server);
    assertThat(server.switched).isEmpty();
    assertThat(answer(server).waits()).isEqualTo(new RulesResource.Waits(null, List.of("forms")));
    server.forms = true;
    look(server);
    assertThat(server.switched).containsExactly("%requests");
    RulesResource.Objective shown =
        answer(server).applications().getFirst().objectives().getFirst();
    assertThat(shown.target()).isEqualTo(99.9);
    assertThat(shown.windowDays()).isEqualTo(30);
  }

  @Test
  void templatesAndDimensionsOfTheConfigurationDoNotWaitForServers() throws Exception {
    Server server = new Server("1 500 /job");
    server.labels = false;
    pass(WAIT, server);
    assertThat(server.switched).containsExactly("/job");
    write(server, "2 500 zone");
    pass(WAIT, server);

    assertThat(server.switched).containsExactly("/job", "zone");
  }

  @Test
  void recordThatTheConfigurationDoesNotAllowIsRefused() throws Exception {
    Server server = new Server("1 500");
    look(server);
    log.append(PublishedRules.record(parse("3 500 kind".getBytes(UTF_8)), nowMillis).encode());
    write(server, "2 200");
    assertThat(server.applied).containsExactly(published(1, 500));
    assertThat(server.decider.refusals()).containsEntry("record", 1L);
    assertThat(server.state()).isEqualTo(FileState.WAITING);
    assertThat(server.problem())
        .isEqualTo(
            "revision = 3: is published, but refused here; raise it: label = kind: is a label of"
                + " every series");
    write(server, "4 200");

    assertThat(server.last()).isEqualTo(published(4, 200));
  }

  private static RulesResource.Answer answer(Server server) {
    return new RulesResource(
            new RulesResource.Sources("rules.yaml", CONFIGURATION), server.decider::status)
        .rules();
  }

  private static RulesResource.Application application(double seconds, String attribute) {
    return new RulesResource.Application(
        "*",
        seconds,
        List.of(),
        List.of(new RulesResource.Label(attribute, attribute.replace('.', '_'), "any")),
        List.of(),
        RulesResource.Histogram.of(CONFIGURATION),
        List.of(),
        List.of());
  }

  /** Changes the file, and looks until the change counts. */
  private void write(Server server, String content) throws Exception {
    server.content = content;
    look(server, server);
  }

  private void look(Server... servers) throws Exception {
    for (Server server : servers) {
      server.decider.step();
      nanos += INTERVAL.toNanos();
      nowMillis += INTERVAL.toMillis();
    }
  }

  private void pass(Duration duration, Server server) throws Exception {
    long end = nanos + duration.toNanos();
    while (nanos < end) {
      look(server);
    }
    look(server);
  }

  private static Rules parse(byte[] content) {
    String[] numbers = new String(content, UTF_8).split(" ");
    try {
      String series = numbers.length < 3 ? null : numbers[2];
      return new Rules(
          Long.parseLong(numbers[0]), keys(Long.parseLong(numbers[1]), series), List.of());
    } catch (NumberFormatException e) {
      throw new ConfigException("revision", numbers[0], "must be a number");
    }
  }

  /** Returns rules as they are read from a record. */
  private static Rules published(long revision, long millis) {
    return new Rules(
        revision, RuleKeys.NONE, List.of(new Rules.OfApplications("*", keys(millis, null))));
  }

  /**
   * @param series attribute of a dimension, /template, # for a unit, or % for an objective; null
   *     for none
   */
  private static RuleKeys keys(long millis, String series) {
    if ("#".equals(series)) {
      Duration slowerThan = Duration.ofMillis(millis);
      return new RuleKeys(null, null, null, null, null, Unit.SECONDS, slowerThan, null, null);
    }
    if ("%".equals(series)) {
      return new RuleKeys(
          null,
          null,
          null,
          null,
          null,
          null,
          Duration.ofMillis(millis),
          null,
          null,
          List.of(new ObjectiveConfig("requests", 99.9, null, null, null, null)));
    }
    boolean isTemplate = series != null && series.startsWith("/");
    return new RuleKeys(
        series == null || isTemplate ? null : List.of(new Dimension(series, null, null)),
        isTemplate ? List.of(new TemplatesConfig.Rule(null, "job .*", series)) : null,
        null,
        null,
        null,
        null,
        Duration.ofMillis(millis),
        null,
        null);
  }
}
