package org.traceetl.server.features.learn;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.NameJoiner;
import org.traceetl.proto.NameRule;
import org.traceetl.proto.NameRules;
import org.traceetl.proto.NameTokens;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/**
 * Counts the distinct tokens at each place in the span names of an application: after the same
 * bytes and with the same number of following tokens. It receives every series of the fleet once,
 * when the series is created, but no names that got no series. Names that are never joined as they
 * are do not count: names that may have been cut, and names that a pattern may have made.
 * Thread-safe.
 *
 * <p>Bounded: each token is stored as a hash of about 100 bytes. An application with {@value
 * #MAX_OF_APPLICATION} tokens, or without a new one for an hour, starts again from zero. At {@value
 * #MAX} tokens or {@value #MAX_APPLICATIONS} applications in all, the application without a name
 * for longest is dropped.
 */
final class NameVariety {
  /** Limit of one application, so that it cannot use up the common limit. */
  static final int MAX_RULES_OF_APPLICATION = 100;

  private static final int MAX = 250_000;
  private static final int MAX_OF_APPLICATION = 20_000;
  private static final int MAX_APPLICATIONS = 20_000;
  private static final int MAX_FOUND = LearntNames.MAX_RULES;
  private static final int MAX_NAME_BYTES = 1_024;

  /** A cut name may be shorter than the limit by a part of a character. */
  private static final int CHARACTER_BYTES = 4;

  private static final long IDLE_MILLIS = TimeUnit.HOURS.toMillis(1);
  private static final HashFunction HASH = Hashing.farmHashFingerprint64();

  /** The names of one application. */
  private static final class Names {
    /** Hashes of each token with the bytes before it. */
    private Set<Long> seen = new HashSet<>();

    /** Number of distinct tokens by the hash of the bytes before them. */
    private Map<Long, Integer> values = new HashMap<>();

    private long newestMillis;
  }

  private final int moreThan;
  private final int maxNameBytes;
  private final BiPredicate<String, String> patterned;
  private final Predicate<Variety> kept;
  private final InstantSource clock;
  private final NameJoiner joiner = new NameJoiner();

  /** The application without a name for longest first. */
  private final Map<String, Names> applications = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * Rules found, including those in force, because a later record may lack them. At most {@value
   * #MAX_FOUND} that are not in force, and those of a whole record.
   */
  private final Set<Variety> found = new LinkedHashSet<>();

  /** Rules found that are not in force. */
  private final List<Variety> pending = new ArrayList<>();

  /**
   * Rules in force and found, by application. Names are examined after these rules joined them, so
   * that the next place is found behind a varying token once, not for each of its values.
   */
  private final Map<String, NameRules> rules = new HashMap<>();

  private int tokens;
  private long forgotten;

  /**
   * @param moreThan number of distinct tokens above which a place varies
   * @param maxValueBytes length to which names of series are cut
   * @param patterned whether a pattern may have made the name of an application
   * @param kept whether a variety must not be joined; called under the lock by any thread
   */
  NameVariety(
      int moreThan,
      int maxValueBytes,
      BiPredicate<String, String> patterned,
      Predicate<Variety> kept,
      InstantSource clock) {
    this.moreThan = moreThan;
    maxNameBytes = Math.min(MAX_NAME_BYTES, maxValueBytes - CHARACTER_BYTES);
    this.patterned = patterned;
    this.kept = kept;
    this.clock = clock;
  }

  /** Adds the series that begin in a window. */
  synchronized void window(SealedWindow window) {
    window.created().forEach(this::add);
  }

  /** Adds all series of a queue. */
  synchronized void series(QueueImage image) {
    image.definitions().forEach(this::add);
  }

  /** Sets the rules in force. */
  synchronized void learnt(LearntNames now) {
    rules.clear();
    rules.putAll(now.applications());
    pending.clear();
    found.stream()
        .filter(variety -> !isLearnt(variety, rules.get(variety.application())))
        .forEach(pending::add);
    pending.forEach(this::join);
  }

  private static boolean isLearnt(Variety variety, NameRules rules) {
    return rules != null
        && rules.rules().stream()
            .anyMatch(rule ->
                rule.behind() == variety.behind() && rule.prefix().equals(variety.prefix()));
  }

  private void join(Variety variety) {
    NameRules its = rules.get(variety.application());
    List<NameRule> all = new ArrayList<>(its == null ? List.of() : its.rules());
    all.add(variety.rule(0));
    rules.put(variety.application(), new NameRules(all));
  }

  /**
   * Returns the places with too many distinct tokens that are not in force yet, in the order of
   * their discovery.
   */
  synchronized List<Variety> found() {
    return List.copyOf(pending);
  }

  /** Returns how often an application was reset or dropped because of a limit. */
  synchronized long forgotten() {
    return forgotten;
  }

  private void add(SeriesDefinition definition) {
    if (!definition.overflow() && !definition.isOfMeasure()) {
      add(
          definition.values().get(SeriesDefinition.APPLICATION),
          definition.values().get(SeriesDefinition.SPAN_NAME));
    }
  }

  private void add(String application, String name) {
    byte[] bytes = name.getBytes(UTF_8);
    int length = bytes.length;
    if (length > maxNameBytes
        || !LearntNames.takes(application)
        || patterned.test(application, name)) {
      return;
    }
    NameRules its = rules.get(application);
    int joined = its == null ? NameJoiner.UNCHANGED : joiner.write(its, bytes, 0, length);
    if (joined != NameJoiner.UNCHANGED) {
      bytes = joiner.buffer();
      length = joined;
    }
    int count = NameTokens.count(bytes, 0, length);
    if (count >= 2 && count <= NameTokens.MAX) {
      add(application, bytes, length, count);
    }
  }

  private void add(String application, byte[] name, int length, int count) {
    Names names = applications.computeIfAbsent(application, absent -> new Names());
    long nowMillis = clock.millis();
    if (nowMillis - names.newestMillis > IDLE_MILLIS) {
      clear(names);
    }
    int behind = count;
    int at = 0;
    while (at < length) {
      int end = NameTokens.end(name, at, length);
      if (end == at) {
        at++;
        continue;
      }
      behind--;
      if (behind < count - 1
          && !NameTokens.isPlaceholder(name, at, end)
          && names.seen.add(hash(name, end, behind))) {
        names.newestMillis = nowMillis;
        tokens++;
        // Found again with each further token: there may be room later.
        if (names.values.merge(hash(name, at, behind), 1, Integer::sum) > moreThan) {
          find(application, name, at, behind);
        }
      }
      at = end;
    }
    if (names.seen.size() >= MAX_OF_APPLICATION) {
      clear(names);
      forgotten++;
    }
    while (tokens >= MAX || applications.size() > MAX_APPLICATIONS) {
      Iterator<Names> longestWithout = applications.values().iterator();
      clear(longestWithout.next());
      longestWithout.remove();
      forgotten++;
    }
  }

  private static long hash(byte[] name, int length, int behind) {
    return HASH.hashBytes(name, 0, length).asLong() * NameTokens.MAX + behind;
  }

  private void clear(Names names) {
    tokens -= names.seen.size();
    // Not cleared: a cleared table would keep its largest size.
    names.seen = new HashSet<>();
    names.values = new HashMap<>();
  }

  private void find(String application, byte[] name, int prefixBytes, int behind) {
    NameRules its = rules.get(application);
    if (pending.size() >= MAX_FOUND
        || its != null && its.rules().size() >= MAX_RULES_OF_APPLICATION) {
      return;
    }
    String prefix = new String(name, 0, prefixBytes, UTF_8);
    Variety variety = new Variety(application, prefix, behind, moreThan + 1);
    if (NameRule.takes(prefix) && !kept.test(variety) && found.add(variety)) {
      pending.add(variety);
      join(variety);
    }
  }
}
