package org.traceetl.server.features.rules;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
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
 * server applies rules only after it has published or read them.
 *
 * <p>Concurrency: one thread reads the file and the topic, and owns all state, except the status.
 */
final class RulesDecider extends Decider<RulesRecord> {
  /** Maximum interval of looks. */
  static final Duration MAX_INTERVAL = Duration.ofMinutes(1);

  /** Maximum interval of reads of the file. */
  static final Duration FILE_INTERVAL = Duration.ofSeconds(5);

  /**
   * Revisions that a server publishes at most within {@link #CHANGES_PER}. Each changes what
   * servers of each configuration demand of agents, and a demand has room for 16 parts of 15
   * minutes: those of two configurations, as in a rolling update.
   */
  static final int MAX_CHANGES = 6;

  static final Duration CHANGES_PER = Duration.ofMinutes(15);

  private static final Logger LOG = LoggerFactory.getLogger(RulesDecider.class);

  /** Interval of reads until the first success: until then, other rules may apply. */
  private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final int MOST_TEXT = 2_000;

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
   * @param inForce {@link RulesRecord#NONE} if there are no rules
   * @param file null without a file
   */
  record Status(RulesRecord inForce, File file) {}

  /**
   * This server's file.
   *
   * @param revision of its last valid content
   * @param problem why its current content is refused or waits; empty for none
   */
  record File(long revision, FileState state, String problem) {}

  private final String topic;
  private final Duration interval;
  private final Consumer<Rules> listener;
  private final Runnable lookedFor;
  private final LongAdder refusedFiles = new LongAdder();
  private final LongAdder refusedRevisions = new LongAdder();
  private volatile Status status = new Status(RulesRecord.NONE, null);

  // Confined to the thread.

  /** Null without a file. */
  private final ReloadedFile<Rules> file;

  private final Deque<Long> changesNanos = new ArrayDeque<>();
  private RulesRecord applied = RulesRecord.NONE;
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
   * @param listener receives the rules that come into force, on the decider's thread
   * @param lookedFor runs after each look that shows which rules are in force, on this thread
   */
  RulesDecider(
      String topic,
      Duration interval,
      ReloadedFile<Rules> file,
      Consumer<Rules> listener,
      Runnable lookedFor,
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
    this.listener = listener;
    this.lookedFor = lookedFor;
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
   * invalid or unreadable, {@code revision} is that of other rules, {@code record} cannot be read.
   * Thread-safe.
   */
  Map<String, Long> refusals() {
    return Map.of(
        "file", refusedFiles.sum(), "revision", refusedRevisions.sum(), "record", refused());
  }

  /** Windows do not change rules. */
  @Override
  public void window(SealedWindow window) {}

  /** Does nothing: rules are applied after all records were read. */
  @Override
  protected void adopted(RulesRecord now) {}

  @Override
  protected long look() throws InterruptedException {
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
    status = new Status(applied, fileStatus());
    return looked ? interval.toNanos() : Math.min(interval.toNanos(), FIRST_NANOS);
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
    lookedFor.run();
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

  private void apply() {
    RulesRecord now = published.current();
    if (now.epoch() > 0 && !now.sameContent(applied)) {
      listener.accept(PublishedRules.rules(now));
      applied = now;
      changesNanos.addLast(nanoTime.getAsLong());
      LOG.info(
          "Applying rules from the next window on; revision={}, rules={}",
          now.epoch(),
          now.applications().size());
    }
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
