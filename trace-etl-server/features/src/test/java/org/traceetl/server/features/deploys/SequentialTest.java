package org.traceetl.server.features.deploys;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.traceetl.server.features.deploys.Traffic.Load;

/**
 * How often verdicts are false, and how soon differences are found, in simulated traffic whose
 * deploys are looked at after each slot. With {@code -Dtraceetl.deploys.seeds=500} as documents
 * say; by default with fewer seeds.
 */
final class SequentialTest {
  private static final int SEEDS = Integer.getInteger("traceetl.deploys.seeds", 30);
  private static final int START = 110;
  private static final int LOOKS = 60;

  private static final Load CALM = new Load(100, 0.02, 0.5, 0.005, 0, 0);
  private static final Load ROUGH = new Load(100, 0.05, 0.5, 0.005, 0.3, 0);
  private static final Load ROUGHER = new Load(100, 0.1, 0.7, 0.02, 0.5, 0);
  private static final Load RARE = new Load(1, 0.05, 0.5, 0.01, 0.3, 0);
  private static final Load FEW_ERRORS = new Load(100, 0.05, 0.5, 0.00002, 0.3, 0);
  private static final Load OWN = new Load(100, 0.05, 0.7, 0.005, 0.3, 0.05);
  private static final Load OWN_LONG = new Load(100, 0.05, 0.9, 0.005, 0.3, 0.05);

  /** By slot after the start: the share of the new version. */
  private static final IntToDoubleFunction AT_ONCE = slot -> 1;

  private static final IntToDoubleFunction ROLLING = slot -> Math.min(1, 0.1 * (slot + 1));
  private static final IntToDoubleFunction CANARY = slot -> 0.05;
  private static final IntToDoubleFunction GROWING = slot -> Math.min(0.05, 0.005 + 0.0015 * slot);

  /** The first verdicts by signal, and the looks at which they came. */
  private record Found(Map<Signal, Verdict> verdicts, Map<Signal, Integer> looks) {}

  private static Found run(
      long seed, Load load, IntToDoubleFunction share, double slower, double errors, int looks) {
    Traffic traffic = new Traffic(seed, load);
    int size = START + looks;
    SplittableRandom random = new SplittableRandom(-seed);
    double ofOld = load.ownNoise() * random.nextGaussian();
    double ofNow = load.ownNoise() * random.nextGaussian();
    double innovation = load.ownNoise() * Math.sqrt(1 - load.correlation() * load.correlation());
    Map<Operation, long[][]> old = new HashMap<>();
    Map<Operation, long[][]> now = new HashMap<>();
    for (int slot = 0; slot < size; slot++) {
      traffic.next();
      ofOld = load.correlation() * ofOld + innovation * random.nextGaussian();
      ofNow = load.correlation() * ofNow + innovation * random.nextGaussian();
      double ofNew = slot < START ? 0 : share.applyAsDouble(slot - START);
      put(old, slot, size, ofNew < 1 ? traffic.calls(1 - ofNew, Math.exp(ofOld), 1) : Map.of());
      put(
          now,
          slot,
          size,
          ofNew > 0 ? traffic.calls(ofNew, slower * Math.exp(ofNow), errors) : Map.of());
    }
    Found found = new Found(new EnumMap<>(Signal.class), new EnumMap<>(Signal.class));
    for (int look = 1; look <= looks; look++) {
      Timeline timeline = new Timeline("shop", 1_000_000 + look);
      timeline.add("1", until(old, START + look));
      timeline.add("2", until(now, START + look));
      for (Deploy deploy : timeline.deploys()) {
        assertThat(deploy.previous()).isEqualTo("1");
        for (Difference difference : deploy.differences()) {
          if (difference.verdict() != Verdict.NO_DIFFERENCE_YET
              && found.verdicts.putIfAbsent(difference.signal(), difference.verdict()) == null) {
            found.looks.put(difference.signal(), look);
          }
        }
      }
    }
    return found;
  }

  private static void put(
      Map<Operation, long[][]> version, int slot, int size, Map<Operation, long[]> calls) {
    calls.forEach((operation, its) ->
        version.computeIfAbsent(operation, absent -> new long[size][])[slot] = its);
  }

  /** Returns the newest slots up to one, exclusive. */
  private static Map<Operation, long[][]> until(Map<Operation, long[][]> version, int end) {
    Map<Operation, long[][]> part = new HashMap<>();
    int length = Math.min(end, Timeline.SLOTS);
    version.forEach((operation, slots) -> {
      long[][] its = new long[Timeline.SLOTS][];
      System.arraycopy(slots, end - length, its, Timeline.SLOTS - length, length);
      part.put(operation, its);
    });
    return part;
  }

  private static void falseVerdicts(String name, Load load, IntToDoubleFunction share) {
    int any = 0;
    Map<Signal, Integer> by = new EnumMap<>(Signal.class);
    for (int seed = 1; seed <= SEEDS; seed++) {
      Found found = run(seed, load, share, 1, 1, LOOKS);
      any += found.verdicts.isEmpty() ? 0 : 1;
      found.verdicts.keySet().forEach(signal -> by.merge(signal, 1, Integer::sum));
    }
    System.out.printf(
        "A/A, %s, seeds 1 to %d: %d of %d deploys have a false verdict %s%n",
        name, SEEDS, any, SEEDS, by);
    // 5 %, and what chance adds to it in so few runs.
    assertThat(any).isLessThanOrEqualTo((int) (0.05 * SEEDS + 2 * Math.sqrt(0.05 * SEEDS)));
  }

  @Test
  void equalVersionsHaveNoVerdict() {
    falseVerdicts("calm, at once", CALM, AT_ONCE);
    falseVerdicts("rough, at once", ROUGH, AT_ONCE);
    falseVerdicts("rough, rolling", ROUGH, ROLLING);
    falseVerdicts("rough, canary", ROUGH, CANARY);
    falseVerdicts("rougher, at once", ROUGHER, AT_ONCE);
    falseVerdicts("rougher, rolling", ROUGHER, ROLLING);
    falseVerdicts("rougher, canary", ROUGHER, CANARY);
    falseVerdicts("rough, growing canary", ROUGH, GROWING);
    falseVerdicts("rougher, growing canary", ROUGHER, GROWING);
    falseVerdicts("few errors, growing canary", FEW_ERRORS, GROWING);
    falseVerdicts("own noise, rolling", OWN, ROLLING);
    falseVerdicts("own noise, canary", OWN, CANARY);
    falseVerdicts("long own noise, at once", OWN_LONG, AT_ONCE);
    falseVerdicts("long own noise, rolling", OWN_LONG, ROLLING);
    falseVerdicts("long own noise, canary", OWN_LONG, CANARY);
    falseVerdicts("rare calls, at once", RARE, AT_ONCE);
    falseVerdicts("few errors, at once", FEW_ERRORS, AT_ONCE);
    falseVerdicts("few errors, canary", FEW_ERRORS, CANARY);
  }

  private static void finds(
      String name,
      int minutes,
      Load load,
      IntToDoubleFunction share,
      double slower,
      double errors,
      Verdict verdict,
      double least) {
    int count = 0;
    Map<Signal, Integer> by = new EnumMap<>(Signal.class);
    for (int seed = 1; seed <= SEEDS; seed++) {
      // One more slot is still open when the deploy is this old.
      Found found = run(seed, load, share, slower, errors, 2 * minutes - 1);
      boolean isErrors = errors != 1;
      boolean isFound =
          isErrors
              ? found.verdicts.get(Signal.ERRORS) == verdict
              : found.verdicts.get(Signal.LATENCY_MEAN) == verdict
                  || found.verdicts.get(Signal.LATENCY_RANK) == verdict;
      count += isFound ? 1 : 0;
      found.verdicts.keySet().forEach(signal -> by.merge(signal, 1, Integer::sum));
    }
    System.out.printf(
        "%s, seeds 1 to %d: %d of %d are %s within %d minutes %s%n",
        name, SEEDS, count, SEEDS, verdict, minutes, by);
    assertThat(count).isGreaterThanOrEqualTo((int) (least * SEEDS));
  }

  @Test
  void aFifthMoreLatencyIsFound() {
    finds("20 % more latency, calm", 5, CALM, AT_ONCE, 1.2, 1, Verdict.WORSE, 0.95);
    finds("20 % more latency, rough", 5, ROUGH, AT_ONCE, 1.2, 1, Verdict.WORSE, 0.7);
    finds("20 % more latency, rough, rolling", 5, ROUGH, ROLLING, 1.2, 1, Verdict.WORSE, 0.9);
    finds("20 % more latency, rougher, rolling", 5, ROUGHER, ROLLING, 1.2, 1, Verdict.WORSE, 0.8);
    finds("20 % more latency, rougher, canary", 15, ROUGHER, CANARY, 1.2, 1, Verdict.WORSE, 0.95);
    finds("20 % less latency, calm", 5, CALM, AT_ONCE, 0.8, 1, Verdict.BETTER, 0.95);
  }

  @Test
  void moreErrorsAreFoundInFiveMinutes() {
    finds("errors 0.5 % to 2 %", 5, CALM, AT_ONCE, 1, 4, Verdict.WORSE, 0.95);
    finds("errors 0.5 % to 2 %, rough", 5, ROUGH, AT_ONCE, 1, 4, Verdict.WORSE, 0.9);
    finds("errors 0.002 % to 1 %", 5, FEW_ERRORS, AT_ONCE, 1, 500, Verdict.WORSE, 0.95);
    finds("errors 1 % to 10 %, one call a second", 5, RARE, AT_ONCE, 1, 10, Verdict.WORSE, 0.7);
  }
}
