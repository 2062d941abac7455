package org.traceetl.server.features.learn;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.Reason;
import org.traceetl.common.WildcardPattern;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.NameRule;
import org.traceetl.proto.NameRules;
import org.traceetl.server.decisions.Decider;
import org.traceetl.server.decisions.DecisionLog;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.log.Printable;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Follows the learnt names. On the deciding server it also learns new ones and publishes them to
 * agents and servers.
 *
 * <p>Concurrency: one thread reads and decides, and owns all state, except the name variety, which
 * the journal's follower updates, and the published values.
 */
public final class NameDecider extends Decider<LearntNames> {
  private static final Logger LOG = LoggerFactory.getLogger(NameDecider.class);

  /** Failed reads of a usual start. */
  private static final int USUAL_FAILURES = 10;

  /**
   * Interval of reads until the first success: until then spans are counted under their own names.
   */
  private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final int MOST_TEXT = 300;

  private record Kept(WildcardPattern application, WildcardPattern rule) {}

  private final LearnConfig config;
  private final List<Kept> keep;
  private final boolean decides;
  private final NameVariety variety;
  private final Consumer<LearntNames> listener;
  private volatile LearntNames current = LearntNames.NONE;

  // Confined to the thread.

  private final Duration interval;
  private boolean looked;
  private int failures;
  private boolean toldFull;

  /**
   * Creates a decider that is not started.
   *
   * @param topic topic of the record
   * @param interval interval of reads
   * @param maxNameBytes longer names are cut
   * @param patterned tests whether a template may produce a name of an application
   * @param decides whether this server may decide; otherwise it only follows
   * @param listener receives the names in force after each change, on the decider's thread
   */
  public NameDecider(
      String topic,
      Duration interval,
      LearnConfig config,
      int maxNameBytes,
      BiPredicate<String, String> patterned,
      boolean decides,
      DecisionLog decisions,
      Clocks clocks,
      Consumer<LearntNames> listener) {
    super(
        "trace-names",
        topic,
        LearntNames.FORMAT,
        epoch -> new LearntNames(epoch, epoch, Map.of()),
        Duration.ZERO,
        decisions,
        clocks);
    this.config = config;
    keep =
        config.keep().stream()
            .map(kept ->
                new Kept(new WildcardPattern(kept.application()), new WildcardPattern(kept.rule())))
            .toList();
    this.decides = decides;
    this.interval = interval;
    this.listener = listener;
    variety =
        new NameVariety(
            config.moreThan(),
            maxNameBytes,
            patterned,
            found -> isKept(found.application(), found.rule(0)),
            clock);
  }

  /** Adds the names of a window of any queue. Thread-safe. */
  @Override
  public void window(SealedWindow window) {
    if (decides) {
      variety.window(window);
    }
  }

  /** Adds the names of all series of a queue. Thread-safe. */
  @Override
  public void series(QueueId queue, QueueImage image) {
    if (decides) {
      variety.series(image);
    }
  }

  /** Returns the learnt names as of the latest read. Thread-safe. */
  public LearntNames current() {
    return current;
  }

  /** Returns how often an application's names were dropped because there were too many. */
  public long forgotten() {
    return variety.forgotten();
  }

  @Override
  protected void adopted(LearntNames now) {
    variety.learnt(now);
    listener.accept(now);
    LOG.info(
        "Published learnt names; epoch={}, rules={}, applications={}",
        now.epoch(),
        now.rules(),
        now.applications().size());
  }

  @Override
  protected long look() throws InterruptedException {
    try {
      update();
      looked = true;
    } catch (IOException e) {
      failures++;
      // At the start of a server that only follows, the brokers may not answer yet.
      if ((decides || looked || failures > USUAL_FAILURES) && throttle.permits()) {
        LOG.warn("Could not read the learnt names; the server retries: {}", Reason.of(e));
      }
    }
    current = published.current();
    return looked ? interval.toNanos() : Math.min(interval.toNanos(), FIRST_NANOS);
  }

  private void update() throws IOException, InterruptedException {
    if (!published.find()) {
      return;
    }
    boolean readAll = published.read();
    // An unread record may be in force; deciding without it would remove its rules.
    if (!decides || !readAll || !decides(decisions.queues())) {
      return;
    }
    Map<String, NameRules> wanted = wanted();
    if (wanted.equals(published.current().applications())) {
      published.repeat(true);
    } else {
      decide(wanted);
    }
  }

  /** Returns the rules in force with the new ones, without those that must not be joined. */
  private Map<String, NameRules> wanted() {
    Map<String, List<NameRule>> rules = new HashMap<>();
    published
        .current()
        .applications()
        .forEach((application, its) ->
            its.rules().stream()
                .filter(rule -> !isKept(application, rule))
                .forEach(rule -> add(rules, application, rule)));
    int size = rules.values().stream().mapToInt(List::size).sum();
    for (Variety found : variety.found()) {
      int its = rules.getOrDefault(found.application(), List.of()).size();
      if (size >= config.maxRules()) {
        tellFull(found.application(), its);
      } else if (its < NameVariety.MAX_RULES_OF_APPLICATION) {
        add(rules, found.application(), found.rule(clock.millis()));
        size++;
      }
    }
    Map<String, NameRules> wanted = new HashMap<>();
    rules.forEach((application, its) -> {
      wanted.put(application, new NameRules(its));
      if (its.size() >= NameVariety.MAX_RULES_OF_APPLICATION) {
        tellFull(application, its.size());
      }
    });
    return wanted;
  }

  private static void add(Map<String, List<NameRule>> rules, String application, NameRule rule) {
    rules.computeIfAbsent(application, absent -> new ArrayList<>()).add(rule);
  }

  private boolean isKept(String application, NameRule rule) {
    return keep.stream()
        .anyMatch(kept -> kept.application.matches(application) && kept.rule.matches(rule.text()));
  }

  private void tellFull(String application, int its) {
    if (!toldFull) {
      toldFull = true;
      LOG.warn(
          "No more names of application {} are learnt: it has {} rules; the limits are {}"
              + " rules for all applications (trace-etl.series.templates.learn.max-rules) and {}"
              + " for one. Rules that trace-etl.series.templates.learn.keep matches are withdrawn",
          Printable.of(application, MOST_TEXT),
          its,
          config.maxRules(),
          NameVariety.MAX_RULES_OF_APPLICATION);
    }
  }

  private void decide(Map<String, NameRules> wanted) throws IOException, InterruptedException {
    Map<String, NameRules> before = published.current().applications();
    LearntNames next = new LearntNames(published.nextEpoch(), clock.millis(), wanted);
    // If another server's record is in force, the next step continues from it.
    if (published.put(next)) {
      tell(before, wanted, "are joined from now on");
      tell(wanted, before, "are no longer joined");
    }
  }

  /** Logs each rule that only the second map contains. */
  private static void tell(
      Map<String, NameRules> without, Map<String, NameRules> with, String what) {
    new TreeMap<>(with)
        .forEach((application, its) -> {
          NameRules others = without.get(application);
          for (NameRule rule : its.rules()) {
            if (others == null || !others.rules().contains(rule)) {
              LOG.info(
                  "Span names of application {} {} as {}; tokensBehind={},"
                      + " distinctNamesWhenLearnt={}",
                  Printable.of(application, MOST_TEXT),
                  what,
                  Printable.of(rule.text(), MOST_TEXT),
                  rule.behind(),
                  rule.values());
            }
          }
        });
  }
}
