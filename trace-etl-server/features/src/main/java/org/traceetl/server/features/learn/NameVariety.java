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
 * Counts how many different tokens stand at each place in the span names of an application: behind
 * the same bytes, with as many tokens behind. It is told of every series of the fleet once, when it
 * is made, and not of the names that found no series. Names that are never joined as they stand
 * here do not count: those that may have been cut, and those that a pattern may have made. Safe for
 * any thread.
 *
 * <p>Bounded: tokens are remembered by their hashes, each with some 100 bytes. An application with
 * {@value #MAX_OF_APPLICATION} of them begins anew, as does one that had no new one for an hour;
 * where all have {@value #MAX}, or are more than {@value #MAX_APPLICATIONS}, the one that had no
 * name for longest is forgotten.
 */
final class NameVariety {
  /** Of one application, so that it does not take the room of all. */
  static final int MAX_RULES_OF_APPLICATION = 100;

  private static final int MAX = 250_000;
  private static final int MAX_OF_APPLICATION = 20_000;
  private static final int MAX_APPLICATIONS = 20_000;
  private static final int MAX_FOUND = LearntNames.MAX_RULES;
  private static final int MAX_NAME_BYTES = 1_024;

  /** A name that was cut may be so much shorter than the longest value: within a character. */
  private static final int CHARACTER_BYTES = 4;

  private static final long IDLE_MILLIS = TimeUnit.HOURS.toMillis(1);
  private static final HashFunction HASH = Hashing.farmHashFingerprint64();

  /** What an application's names are made of. */
  private static final class Names {
    /** Hashes of what stands before a token, and of the token. */
    private Set<Long> seen = new HashSet<>();

    /** By the hash of what stands before them: how many different tokens. */
    private Map<Long, Integer> values = new HashMap<>();

    private long newestMillis;
  }

  private final int moreThan;
  private final int maxNameBytes;
  private final BiPredicate<String, String> patterned;
  private final Predicate<Variety> kept;
  private final InstantSource clock;
  private final NameJoiner joiner = new NameJoiner();

  /** The one that had no name for longest first. */
  private final Map<String, Names> applications = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * Also what is learnt since: a record may come to hold that lacks it. At most {@value #MAX_FOUND}
   * that are not learnt, and those of a whole record.
   */
  private final Set<Variety> found = new LinkedHashSet<>();

  /** Of what is found, what is not learnt now. */
  private final List<Variety> pending = new ArrayList<>();

  /**
   * What is learnt and what is found, by application: names are looked at as these join them, so
   * that behind a token that varies the next one is found, and not each of its values.
   */
  private final Map<String, NameRules> rules = new HashMap<>();

  private int tokens;
  private long forgotten;

  /**
   * @param moreThan different tokens make a variety
   * @param maxValueBytes to which names are cut where series are made
   * @param patterned whether a name, behind its application, may be what a pattern made
   * @param kept whether a variety is to be left as it is; asked within, on any thread
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

  /** Looks at the series that begin in a window. */
  synchronized void window(SealedWindow window) {
    window.created().forEach(this::add);
  }

  /** Looks at the series that there are. */
  synchronized void series(QueueImage image) {
    for (int series = 0; series < image.slots(); series++) {
      SeriesDefinition definition = image.definition(series);
      if (definition != null) {
        add(definition);
      }
    }
  }

  /** What is learnt now. */
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

  /** Places with too many different tokens that are not learnt yet; the one found first first. */
  synchronized List<Variety> found() {
    return List.copyOf(pending);
  }

  /** Times that an application began anew, or was forgotten, for there was too much to know. */
  synchronized long forgotten() {
    return forgotten;
  }

  private void add(SeriesDefinition definition) {
    if (!definition.overflow()) {
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
        // Again with each further one: what there is no room for now may find some later.
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
    // Not emptied: that would keep tables as large as they ever were.
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
