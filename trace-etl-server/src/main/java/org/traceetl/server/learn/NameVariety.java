package org.traceetl.server.learn;

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
 * is made, and not of the names that found no series. Safe for any thread.
 *
 * <p>Bounded: tokens are remembered by their hashes, each with some 100 bytes. An application with
 * {@value #MAX_OF_APPLICATION} of them begins anew, as does one that had no new one for an hour;
 * where all have {@value #MAX}, or are more than {@value #MAX_APPLICATIONS}, the one that had no
 * name for longest is forgotten.
 */
final class NameVariety {
  private static final int MAX = 250_000;
  private static final int MAX_OF_APPLICATION = 20_000;
  private static final int MAX_APPLICATIONS = 20_000;
  private static final int MAX_FOUND = LearntNames.MAX_RULES;
  private static final int MAX_NAME_BYTES = 1_024;
  private static final long IDLE_MILLIS = TimeUnit.HOURS.toMillis(1);
  private static final HashFunction HASH = Hashing.farmHashFingerprint64();

  /** What an application's names are made of. */
  private static final class Names {
    /** Hashes of what stands before a token, and of the token. */
    private final Set<Long> seen = new HashSet<>();

    /** By the hash of what stands before them: how many different tokens. */
    private final Map<Long, Integer> values = new HashMap<>();

    private long newestMillis;
  }

  private final int moreThan;
  private final InstantSource clock;
  private final NameJoiner joiner = new NameJoiner();

  /** The one that had no name for longest first. */
  private final Map<String, Names> applications = new LinkedHashMap<>(16, 0.75f, true);

  private final Set<Variety> found = new LinkedHashSet<>();

  /**
   * What is learnt and what is found, by application: names are looked at as these join them, so
   * that behind a token that varies the next one is found, and not each of its values.
   */
  private final Map<String, NameRules> rules = new HashMap<>();

  private int tokens;
  private long forgotten;

  /**
   * @param moreThan different tokens make a variety
   */
  NameVariety(int moreThan, InstantSource clock) {
    this.moreThan = moreThan;
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

  /** What is learnt now; what of it was found here leaves. */
  synchronized void learnt(LearntNames now) {
    rules.clear();
    rules.putAll(now.applications());
    found.removeIf(variety -> isLearnt(variety, rules.get(variety.application())));
    found.forEach(this::join);
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
    all.add(new NameRule(variety.prefix(), variety.behind(), variety.values(), 0));
    rules.put(variety.application(), new NameRules(all));
  }

  /** Places with too many different tokens that are not learnt yet; the one found first first. */
  synchronized List<Variety> found() {
    return List.copyOf(found);
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
    if (length > MAX_NAME_BYTES || !LearntNames.takes(application)) {
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
        if (names.values.merge(hash(name, at, behind), 1, Integer::sum) == moreThan + 1) {
          find(application, new String(name, 0, at, UTF_8), behind);
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
    names.seen.clear();
    names.values.clear();
  }

  /** Also what nobody may learn now: what may be learnt is for the decider to say. */
  private void find(String application, String prefix, int behind) {
    Variety variety = new Variety(application, prefix, behind, moreThan + 1);
    if (found.size() < MAX_FOUND && NameRule.takes(prefix) && found.add(variety)) {
      join(variety);
    }
  }
}
