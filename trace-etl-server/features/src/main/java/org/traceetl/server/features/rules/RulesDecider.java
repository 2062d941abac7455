package org.traceetl.server.features.rules;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.common.Reason;
import org.traceetl.common.ReloadedFile;
import org.traceetl.proto.RulesRecord;
import org.traceetl.server.decisions.Decider;
import org.traceetl.server.decisions.DecisionLog;
import org.traceetl.server.log.Printable;
import org.traceetl.server.rules.PublishedRules;
import org.traceetl.server.rules.Rules;
import org.traceetl.server.window.SealedWindow;

/**
 * Follows the rules of the newest record, and publishes those of this server's file if they have a
 * higher revision. Every server with a file does so, not only the deciding one: the revision
 * selects the same record everywhere, so a server that still has an earlier file changes nothing. A
 * server applies rules only after it has published or read them: thresholds at once, dimensions,
 * templates, buckets, units and measures as {@link DimensionSwitch} determines.
 *
 * <p>Concurrency: one thread reads the file and the topic, and owns all state, except the status.
 */
final class RulesDecider extends Decider<RulesRecord> {
  /** Maximum interval of looks. */
  static final Duration MAX_INTERVAL = Duration.ofMinutes(1);

  /** Maximum interval of reads of the file. */
  static final Duration FILE_INTERVAL = Duration.ofSeconds(5);

  /**
   * Revisions that a server publishes at most within {@link #CHANGES_PER}. Each changes twice what
   * servers of each configuration demand of agents: before and after the switch of dimensions. A
   * demand has room for 16 parts of 15 minutes: with those from before the changes, 14 of two
   * configurations, as in a rolling update.
   */
  static final int MAX_CHANGES = 3;

  static final Duration CHANGES_PER = Duration.ofMinutes(15);

  private static final Logger LOG = LoggerFactory.getLogger(RulesDecider.class);

  /**
   * Interval of reads until the first success: until then, other rules may apply. Also the interval
   * of looks while dimensions wait for servers.
   */
  private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Interval of looks until it is known whether all servers read labels, if dimensions wait. */
  private static final long LABELS_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final int MOST_TEXT = 2_000;

  /** What rules change. Its methods are called on the decider's thread. */
  interface Target {
    /**
     * @throws ConfigException if this server's configuration does not allow the rules
     */
    void check(Rules rules);

    /** Receives the thresholds that come into force. */
    void thresholds(Rules now);

    /**
     * Receives the dimensions, templates, buckets, units and measures that come into force; null
     * for the configuration.
     */
    void dimensions(Rules now);

    /**
     * Receives the attributes of spans that are needed, by the pattern of their applications, after
     * each change of rules.
     */
    void needs(Map<String, Set<String>> attributes);

    /** Returns whether all servers read labels of single series; null if it is not known yet. */
    Boolean labels();

    /** Returns whether all servers read forms of single series; null if it is not known yet. */
    Boolean forms();

    /** Runs after each look that shows which rules are in force. */
    void lookedFor();
  }

  /** What becomes of the content of this server's file. */
  enum FileState {
    /** Its rules are in force. */
    IN_FORCE,
    /** Rules of a higher revision are in force. */
    OLDER,
    /** It is not published yet. */
    WAITING,
    /** It is invalid, unreadable, or has the revision of other rules. */
    REFUSED
  }

  /**
   * The latest look.
   *
   * @param record {@link RulesRecord#NONE} if there are no rules
   * @param rules those of the record; null if there are no rules
   * @param waits null if all of the rules are in force
   * @param file null without a file
   */
  record Status(RulesRecord record, Rules rules, Waits waits, File file) {
    /** The status before the first look, or without rules. */
    static final Status NONE = new Status(RulesRecord.NONE, null, null, null);
  }

  /**
   * What dimensions, templates, buckets and units of the rules wait for.
   *
   * @param untilMillis milliseconds since 1970; null if that time has passed
   * @param forServers whether dimensions wait until all servers read labels
   * @param forForms whether buckets and units wait until all servers read them
   */
  record Waits(Long untilMillis, boolean forServers, boolean forForms) {}

  /**
   * This server's file.
   *
   * @param revision of its last valid content
   * @param problem why its current content is refused or waits; empty for none
   */
  record File(long revision, FileState state, String problem) {}

  private final String topic;
  private final Duration interval;
  private final Target target;
  private final LongAdder refusedFiles = new LongAdder();
  private final LongAdder refusedRevisions = new LongAdder();
  private final LongAdder refusedRecords = new LongAdder();
  private volatile Status status = Status.NONE;

  // Confined to the thread.

  /** Null without a file. */
  private final ReloadedFile<Rules> file;

  private final Deque<Long> changesNanos = new ArrayDeque<>();

  /** Records since the last look, in the order in which they came into force. */
  private final List<RulesRecord> adopted = new ArrayList<>();

  private final DimensionSwitch dimensions;
  private RulesRecord applied = RulesRecord.NONE;

  /** The rules of that record; null for none. */
  private Rules rules;

  private Waits waits;

  /** Whether the log says that dimensions wait for servers. */
  private boolean saidServers;

  /** The attributes that the target received last. */
  private Map<String, Set<String>> needed = Map.of();

  /** Why this server's configuration does not allow the record in force; empty if it does. */
  private String refusal = "";

  private long readNanos;
  private boolean looked;
  private boolean lacksTopic;

  /** Why the latest look failed; empty if it did not. */
  private String failure = "";

  /** The problem of the file at the latest look; empty for none. */
  private String problem = "";

  /**
   * Creates a decider that is not started.
   *
   * @param topic topic of the record
   * @param interval interval of looks; at most {@link #MAX_INTERVAL}, with a file {@link
   *     #FILE_INTERVAL}
   * @param file null without a file
   */
  RulesDecider(
      String topic,
      Duration interval,
      ReloadedFile<Rules> file,
      DimensionSwitch dimensions,
      Target target,
      DecisionLog decisions,
      Clocks clocks) {
    super(
        "trace-rules",
        topic,
        RulesRecord.FORMAT,
        epoch -> new RulesRecord(epoch, epoch, Map.of()),
        Duration.ZERO,
        decisions,
        clocks);
    this.topic = topic;
    this.file = file;
    Duration most = file == null ? MAX_INTERVAL : FILE_INTERVAL;
    this.interval = interval.compareTo(most) < 0 ? interval : most;
    this.dimensions = dimensions;
    this.target = target;
    readNanos = nanoTime.getAsLong();
  }

  /** Returns the result of the latest look. Thread-safe. */
  Status status() {
    return status;
  }

  /** Returns whether this server has a file that is refused. Thread-safe. */
  boolean isFileRefused() {
    File now = status.file;
    return now != null && now.state == FileState.REFUSED;
  }

  /**
   * Returns how many contents of the file and records were refused, by reason: {@code file} is
   * invalid or unreadable, {@code revision} is that of other rules, {@code record} cannot be read
   * or is not allowed by the configuration. Thread-safe.
   */
  Map<String, Long> refusals() {
    return Map.of(
        "file",
        refusedFiles.sum(),
        "revision",
        refusedRevisions.sum(),
        "record",
        refused() + refusedRecords.sum());
  }

  /** Windows do not change rules. */
  @Override
  public void window(SealedWindow window) {}

  /** Keeps the record: rules are applied after all records were read. */
  @Override
  protected void adopted(RulesRecord now) {
    adopted.add(now);
  }

  @Override
  protected long look() throws InterruptedException {
    long nowNanos = nanoTime.getAsLong();
    if (nowNanos - readNanos >= 0) {
      read();
      long pauseNanos = interval.toNanos();
      readNanos = nowNanos + (looked ? pauseNanos : Math.min(pauseNanos, FIRST_NANOS));
    }
    long waitNanos = switchDimensions();
    status = new Status(applied, rules, waits, fileStatus());
    return Math.min(readNanos - nowNanos, waitNanos);
  }

  private void read() throws InterruptedException {
    if (file != null) {
      file.look(false);
    }
    failure = "";
    try {
      update();
    } catch (IOException e) {
      failure = Reason.of(e);
      if (looked && throttle.permits()) {
        LOG.warn("Could not read or publish rules; the server retries: {}", failure);
      }
    }
  }

  private void update() throws IOException, InterruptedException {
    if (!published.find()) {
      lacksTopic = !decisions.queues().isEmpty();
      if (lacksTopic) {
        lookedFor();
      }
      return;
    }
    lacksTopic = false;
    // An unread record may be in force.
    if (!published.read()) {
      return;
    }
    apply();
    try {
      publish();
    } finally {
      lookedFor();
    }
  }

  private void publish() throws IOException, InterruptedException {
    if (isToPublish()) {
      RulesRecord own = PublishedRules.record(file.value(), clock.millis());
      if (published.put(own)) {
        LOG.info("Published the rules of the file; revision={}", own.epoch());
      }
      apply();
    } else if (published.current().epoch() > 0) {
      published.repeat(true);
    }
  }

  private void lookedFor() {
    looked = true;
    target.lookedFor();
  }

  private boolean isToPublish() {
    long nowNanos = nanoTime.getAsLong();
    while (!changesNanos.isEmpty() && nowNanos - changesNanos.getFirst() >= CHANGES_PER.toNanos()) {
      changesNanos.removeFirst();
    }
    return file != null
        && file.problem().isEmpty()
        && file.value().revision() > published.current().epoch()
        && changesNanos.size() < MAX_CHANGES;
  }

  /** Applies the rules of the records that came into force. */
  private void apply() {
    boolean changed = false;
    for (RulesRecord now : adopted) {
      changed |= isAllowed(now);
    }
    adopted.clear();
    if (changed) {
      changesNanos.addLast(nanoTime.getAsLong());
      target.thresholds(rules);
      LOG.info(
          "Applying thresholds of the rules from the next window on; revision={}, rules={}",
          applied.epoch(),
          applied.applications().size());
      switchDimensions();
      if (waits != null && waits.untilMillis != null) {
        LOG.info(
            "Dimensions, templates and buckets of the rules wait, so that agents first send what they"
                + " need; revision={}, until={}",
            applied.epoch(),
            Instant.ofEpochMilli(waits.untilMillis));
      }
      // Also if only thresholds have changed.
      target.needs(needed);
    }
  }

  /** Returns whether a record has other rules than those applied, which are allowed here. */
  private boolean isAllowed(RulesRecord now) {
    if (now.epoch() == 0 || now.sameContent(applied)) {
      return false;
    }
    try {
      Rules read = PublishedRules.rules(now);
      target.check(read);
      dimensions.adopt(read, now.decidedMillis(), nanoTime.getAsLong());
      rules = read;
    } catch (ConfigException e) {
      refusal = Printable.of(e.getMessage(), MOST_TEXT);
      refusedRecords.increment();
      LOG.warn(
          "Refused the rules of another server; the rules in force stay: {}; revision={}",
          refusal,
          now.epoch());
      return false;
    }
    refusal = "";
    applied = now;
    return true;
  }

  /**
   * Applies the dimensions and templates that are due.
   *
   * @return nanoseconds until the next look at them; {@link Long#MAX_VALUE} if nothing waits
   */
  private long switchDimensions() {
    Boolean labels = target.labels();
    Boolean forms = target.forms();
    boolean changed = dimensions.look(clock.millis(), nanoTime.getAsLong(), labels, forms);
    long restMillis = dimensions.restMillis();
    boolean awaitsServers = dimensions.awaitsServers();
    boolean awaitsForms = dimensions.awaitsForms();
    waits =
        restMillis <= 0 && !awaitsServers && !awaitsForms
            ? null
            : new Waits(
                restMillis <= 0 ? null : clock.millis() + restMillis, awaitsServers, awaitsForms);
    if (changed) {
      target.dimensions(dimensions.inForce());
      Rules now = dimensions.inForce();
      LOG.info(
          "Counting by dimensions, templates and buckets of {} from the next batch on",
          now == null ? "the configuration" : "the rules of revision " + now.revision());
    }
    Map<String, Set<String>> attributes = dimensions.attributes();
    if (!attributes.equals(needed)) {
      needed = attributes;
      target.needs(attributes);
    }
    boolean isKnown = !(awaitsServers && labels == null) && !(awaitsForms && forms == null);
    boolean blocked = (awaitsServers || awaitsForms) && isKnown;
    if (blocked && !saidServers) {
      LOG.warn(
          "Dimensions, buckets or measures of the rules wait until all servers read those of single series:"
              + " upgrade the servers for which /api/demand has labels = false or forms = false, and"
              + " enable trace-etl.demand.enabled; revision={}",
          applied.epoch());
    }
    saidServers = blocked;
    if (awaitsServers || awaitsForms) {
      return isKnown ? FIRST_NANOS : LABELS_NANOS;
    }
    return restMillis <= 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(restMillis);
  }

  /** Returns the state of the file; null without a file. */
  private File fileStatus() {
    if (file == null) {
      return null;
    }
    Rules own = file.value();
    long inForce = applied.epoch();
    String was = problem;
    problem = Printable.of(file.problem(), MOST_TEXT);
    FileState state = FileState.IN_FORCE;
    if (!problem.isEmpty()) {
      state = FileState.REFUSED;
      refused(was, refusedFiles);
    } else if (own.revision() > inForce) {
      state = FileState.WAITING;
      problem = failure.isEmpty() ? waitsFor() : failure;
      if (failure.isEmpty() && !problem.isEmpty() && !problem.equals(was)) {
        LOG.warn("The rules of the file are not in force yet: {}", problem);
      }
    } else if (own.revision() < inForce) {
      state = FileState.OLDER;
    } else if (!PublishedRules.record(own, 0).sameContent(applied)) {
      state = FileState.REFUSED;
      problem = "revision = " + inForce + ": has other rules already; raise it";
      refused(was, refusedRevisions);
    }
    return new File(own.revision(), state, problem);
  }

  private String waitsFor() {
    if (lacksTopic) {
      return "topic " + topic + " does not exist; create it";
    }
    if (!refusal.isEmpty() && published.current().epoch() >= file.value().revision()) {
      return "revision = "
          + published.current().epoch()
          + ": is published, but refused here; raise it: "
          + refusal;
    }
    return changesNanos.size() < MAX_CHANGES
        ? ""
        : "rules changed "
            + MAX_CHANGES
            + " times within "
            + CHANGES_PER.toMinutes()
            + " min, the maximum";
  }

  /** Counts and logs a problem when it begins. */
  private void refused(String was, LongAdder count) {
    if (!problem.equals(was)) {
      count.increment();
      LOG.warn("Refused the file of rules; the rules in force stay: {}", problem);
    }
  }
}
