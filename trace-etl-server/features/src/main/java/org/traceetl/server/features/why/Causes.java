package org.traceetl.server.features.why;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.traceetl.proto.TraceId;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.features.why.WhyAnswer.Attribute;
import org.traceetl.server.features.why.WhyAnswer.Cause;
import org.traceetl.server.features.why.WhyAnswer.Correlated;
import org.traceetl.server.features.why.WhyAnswer.Example;
import org.traceetl.server.features.why.WhyAnswer.OperationShare;

/**
 * Finds what the selection has more often than the baseline, within operations.
 *
 * <p>Every value with at least {@value #MIN_UNITS} units is tested by {@link Contrast}. Rarer
 * values count as their templates without identifiers. So is the absence of each attribute, and the
 * best range of each attribute whose values are numbers ({@link Ranges}). The false discovery rate
 * is controlled by the procedure of Benjamini and Hochberg (1995), which without any true cause is
 * the probability that a value is listed. Then pairs of the best values are tested. A pair is
 * listed only if it is more informative than both, if each of them matters given the other, and if
 * it were significant among the pairs of all values (Bonferroni), since the best ones were chosen
 * by the same spans.
 *
 * <p>They are ranked by G, which is proportional to the information that a value has about the
 * selection, and all are compared with the same units. If a cause makes the selection independent
 * of everything else, no other value or pair has more (data-processing inequality: Cover and
 * Thomas, Elements of Information Theory, 2.8). Hence a value that is significant only without the
 * better ones is correlated with them, and joins the one with which it shares most of the
 * selection.
 *
 * <p>The answer is a function of the units. Equal values are ordered by their text.
 */
final class Causes {
  /** Of values; with the other two the rate of errors of an answer. */
  static final double VALUES_RATE = 0.03;

  static final double PAIRS_RATE = 0.01;
  static final double OUTCOMES_RATE = 0.01;

  private static final int MIN_UNITS = 5;
  private static final int MAX_VALUES_OF_KEY = 1_000;
  private static final int MAX_TESTED = 10_000;
  private static final int MAX_SIGNIFICANT = 200;
  private static final int PAIRED = 20;
  private static final int MAX_CAUSES = 10;
  private static final int MAX_CORRELATED = 20;
  private static final int MAX_TRACES = 5;
  private static final int MAX_OPERATIONS = 20;

  /** Differences of less are of no interest. */
  private static final double MIN_EXPLAINED = 0.01;

  private static final double NANOS_PER_MILLI = 1e6;

  private final SpanSample sample;
  private final AttributeValues values;
  private final List<Unit> units = new ArrayList<>();
  private final int selection;
  private final Contrast.Strata strata;
  private final List<Property> tested;

  /** A value, or a pair of values, and its contrast. */
  private record Property(List<Attribute> attributes, String text, int[] units, Contrast contrast) {
    String key() {
      return attributes.getFirst().key();
    }
  }

  /** A cause, and others that it explains. */
  private record Group(Property first, List<Property> others) {}

  Causes(SpanSample sample) {
    this.sample = sample;
    values = sample.values();
    List<Unit> selected = sample.selection();
    List<Unit> baseline = sample.baseline();
    Set<Integer> comparable = operations(selected);
    comparable.retainAll(operations(baseline));
    selected.stream().filter(unit -> comparable.contains(unit.operation)).forEach(units::add);
    selection = units.size();
    baseline.stream().filter(unit -> comparable.contains(unit.operation)).forEach(units::add);
    strata =
        new Contrast.Strata(
            units.stream().mapToInt(unit -> unit.operation).toArray(),
            units.stream().mapToDouble(unit -> unit.weight).toArray(),
            sample.operations().size(),
            selection,
            designEffect(units));
    tested = tested();
  }

  private static Set<Integer> operations(List<Unit> units) {
    Set<Integer> operations = new HashSet<>();
    units.forEach(unit -> operations.add(unit.operation));
    return operations;
  }

  private static double designEffect(List<Unit> units) {
    record Trace(long high, long low) {}
    Map<Trace, Integer> unitsOf = new HashMap<>();
    units.forEach(unit -> unitsOf.merge(new Trace(unit.traceHigh, unit.traceLow), 1, Integer::sum));
    double squares = unitsOf.values().stream().mapToDouble(k -> (double) k * k).sum();
    return units.isEmpty() ? 1 : squares / units.size();
  }

  /** Tests all values that are frequent enough. */
  private List<Property> tested() {
    int[] counts = new int[values.size()];
    for (Unit unit : units) {
      unit.values = distinct(unit.values, unit.values.length);
      count(unit.values, counts);
    }
    List<Property> all = new ArrayList<>(ofKeys());
    int[] shown = shown(counts);
    Arrays.fill(counts, 0);
    for (Unit unit : units) {
      int size = 0;
      for (int value : unit.values) {
        if (shown[value] != AttributeValues.NONE) {
          unit.values[size++] = shown[value];
        }
      }
      unit.values = distinct(unit.values, size);
      count(unit.values, counts);
    }
    int[][] unitsOf = new int[values.size()][];
    for (int value : most(counts)) {
      unitsOf[value] = new int[counts[value]];
      counts[value] = 0;
    }
    for (int unit = 0; unit < units.size(); unit++) {
      for (int value : units.get(unit).values) {
        if (unitsOf[value] != null) {
          unitsOf[value][counts[value]++] = unit;
        }
      }
    }
    for (int value = 0; value < unitsOf.length; value++) {
      if (unitsOf[value] != null) {
        List<Attribute> of = List.of(new Attribute(values.key(value), values.text(value)));
        all.add(property(of, unitsOf[value], strata.of(unitsOf[value])));
      }
    }
    return all;
  }

  /** Sorts the first values in place; returns them without repetitions. */
  private static int[] distinct(int[] values, int length) {
    Arrays.sort(values, 0, length);
    int size = 0;
    for (int i = 0; i < length; i++) {
      if (size == 0 || values[size - 1] != values[i]) {
        values[size++] = values[i];
      }
    }
    return size == values.length ? values : Arrays.copyOf(values, size);
  }

  private static void count(int[] of, int[] counts) {
    for (int value : of) {
      counts[value]++;
    }
  }

  /** Tests the absence and the ranges of attributes. */
  private List<Property> ofKeys() {
    Map<String, Integer> keys = new TreeMap<>(values.keys());
    BitSet[] have = new BitSet[keys.size()];
    Arrays.setAll(have, key -> new BitSet(units.size()));
    for (int unit = 0; unit < units.size(); unit++) {
      for (int value : units.get(unit).values) {
        have[values.keyOf(value)].set(unit);
      }
    }
    List<Property> all = new ArrayList<>();
    keys.forEach((key, number) -> {
      BitSet with = have[number];
      int lacking = units.size() - with.cardinality();
      if (!with.isEmpty() && values.isComplete(number) && lacking >= MIN_UNITS) {
        int[] without = new int[lacking];
        for (int i = 0, unit = -1; i < lacking; i++) {
          unit = with.nextClearBit(unit + 1);
          without[i] = unit;
        }
        all.add(ofKey(new Attribute(key, null), without, strata.of(without)));
      }
      Ranges.Range range = values.isNumeric(number) ? Ranges.best(units, number, strata) : null;
      if (range != null) {
        all.add(ofKey(new Attribute(key, range.text()), range.units(), range.contrast()));
      }
    });
    return all;
  }

  /** Returns a property; if chance explains it, without its many units, which nothing reads. */
  private static Property ofKey(Attribute attribute, int[] unitsOf, Contrast contrast) {
    return property(
        List.of(attribute), contrast.p() <= VALUES_RATE ? unitsOf : new int[0], contrast);
  }

  /** Returns what replaces each value: itself if it is frequent, else its template. */
  private int[] shown(int[] counts) {
    boolean[] keeps = new boolean[counts.length];
    Map<String, Integer> ofKey = new HashMap<>();
    for (int value : most(counts)) {
      keeps[value] = ofKey.merge(values.key(value), 1, Integer::sum) <= MAX_VALUES_OF_KEY;
    }
    int[] shown = new int[counts.length];
    for (int value = 0; value < shown.length; value++) {
      int template = values.template(value);
      shown[value] = keeps[value] ? value : template;
    }
    return shown;
  }

  /** Returns the values with enough units, the most frequent first. */
  private int[] most(int[] counts) {
    return IntStream.range(0, counts.length)
        .filter(value -> counts[value] >= MIN_UNITS)
        .boxed()
        .sorted(Comparator.<Integer>comparingInt(value -> -counts[value]).thenComparing(this::text))
        .limit(MAX_TESTED)
        .mapToInt(Integer::intValue)
        .toArray();
  }

  private String text(int value) {
    return values.key(value) + '\n' + values.text(value);
  }

  private static Property property(List<Attribute> of, int[] unitsOf, Contrast contrast) {
    StringBuilder text = new StringBuilder();
    for (Attribute attribute : of) {
      text.append(attribute.key()).append('\n');
      text.append(attribute.value() == null ? "" : attribute.value()).append('\n');
    }
    return new Property(of, text.toString(), unitsOf, contrast);
  }

  private static final Comparator<Property> MOST_INFORMATIVE =
      Comparator.<Property>comparingDouble(property -> -property.contrast.g())
          .thenComparing(property -> property.attributes.size())
          .thenComparing(Property::text);

  /** Returns those that are significant by the procedure of Benjamini and Hochberg. */
  private static List<Property> significant(List<Property> all, double rate) {
    List<Property> sorted =
        all.stream().sorted(Comparator.comparingDouble(property -> property.contrast.p())).toList();
    int last = 0;
    for (int i = 0; i < sorted.size(); i++) {
      if (sorted.get(i).contrast.p() <= rate * (i + 1) / sorted.size()) {
        last = i + 1;
      }
    }
    return sorted.subList(0, last).stream()
        .filter(property -> property.contrast.explained() >= MIN_EXPLAINED)
        .toList();
  }

  private List<Property> pairs(List<Property> candidates) {
    List<Property> best =
        candidates.stream()
            .filter(property -> property.contrast.explained() >= MIN_EXPLAINED)
            .sorted(MOST_INFORMATIVE)
            .limit(PAIRED)
            .toList();
    double all = candidates.size() * (candidates.size() - 1.0) / 2;
    double tried = best.size() * (best.size() - 1.0) / 2;
    List<Property> pairs = new ArrayList<>();
    for (int i = 0; i < best.size(); i++) {
      for (int j = i + 1; j < best.size(); j++) {
        Property one = best.get(i);
        Property other = best.get(j);
        if (one.key().equals(other.key())) {
          continue;
        }
        int[] both = both(one.units, other.units);
        if (both.length < MIN_UNITS) {
          continue;
        }
        Attribute first = one.attributes.getFirst();
        Attribute second = other.attributes.getFirst();
        Property pair =
            property(
                one.text.compareTo(other.text) < 0
                    ? List.of(first, second)
                    : List.of(second, first),
                both,
                strata.of(both));
        if (pair.contrast.p() <= PAIRS_RATE / all
            && pair.contrast.g() > Math.max(one.contrast.g(), other.contrast.g())
            && strata.split(one.units).of(both).p() <= PAIRS_RATE / tried
            && strata.split(other.units).of(both).p() <= PAIRS_RATE / tried) {
          pairs.add(pair);
        }
      }
    }
    return pairs;
  }

  private static int[] both(int[] one, int[] other) {
    int[] both = new int[Math.min(one.length, other.length)];
    int size = 0;
    int at = 0;
    for (int unit : one) {
      while (at < other.length && other[at] < unit) {
        at++;
      }
      if (at < other.length && other[at] == unit) {
        both[size++] = unit;
      }
    }
    return Arrays.copyOf(both, size);
  }

  /** Joins those that add no information to better ones. */
  private List<Group> groups(List<Property> significant, double rate) {
    List<Group> groups = new ArrayList<>();
    Contrast.Strata given = strata;
    List<Property> best =
        significant.stream().sorted(MOST_INFORMATIVE).limit(MAX_SIGNIFICANT).toList();
    for (Property property : best) {
      if (groups.isEmpty() || given.of(property.units).p() <= rate / best.size()) {
        if (groups.size() == MAX_CAUSES) {
          break;
        }
        groups.add(new Group(property, new ArrayList<>()));
        given = given.split(property.units);
      } else {
        List<Property> others = nearest(groups, property).others;
        if (others.size() < MAX_CORRELATED) {
          others.add(property);
        }
      }
    }
    return groups;
  }

  private Group nearest(List<Group> groups, Property property) {
    Group nearest = null;
    double most = -1;
    for (Group group : groups) {
      int shared = selected(both(group.first.units, property.units));
      double similarity =
          (double) shared / (selected(group.first.units) + selected(property.units) - shared);
      if (similarity > most) {
        most = similarity;
        nearest = group;
      }
    }
    return nearest;
  }

  private int selected(int[] unitsOf) {
    int at = Arrays.binarySearch(unitsOf, selection);
    return at < 0 ? -at - 1 : at;
  }

  /** Returns the answer. */
  WhyAnswer answer(
      Question question, long fromMillis, boolean isComplete, Predicate<String> isOutcome) {
    List<Property> causes = new ArrayList<>();
    List<Property> outcomes = new ArrayList<>();
    for (Property property : tested) {
      (isOutcome.test(property.key()) ? outcomes : causes).add(property);
    }
    List<Property> found = new ArrayList<>(significant(causes, VALUES_RATE));
    found.addAll(pairs(causes));
    int operations = sample.operations().size();
    return new WhyAnswer(
        question.application(),
        question.operation(),
        question.kind() == null ? null : question.kind().name(),
        question.failed(),
        question.slowerThanNanos() == 0 ? null : question.slowerThanNanos() / NANOS_PER_MILLI,
        Instant.ofEpochMilli(fromMillis),
        question.until(),
        question.earlier() == null ? "rest" : question.earlier().toString(),
        sample.isOfIndex() ? "index" : "broker",
        isComplete,
        sample.messages(),
        IntStream.range(0, operations).mapToLong(sample::spans).sum(),
        IntStream.range(0, operations).mapToLong(sample::selected).sum(),
        sample.isSampled(),
        spansPerSample(),
        selection,
        units.size() - selection,
        tested.size(),
        values.leftOut(),
        VALUES_RATE + PAIRS_RATE + OUTCOMES_RATE,
        operations(),
        groups(found, VALUES_RATE).stream().map(this::cause).toList(),
        groups(significant(outcomes, OUTCOMES_RATE), OUTCOMES_RATE).stream()
            .map(this::cause)
            .toList());
  }

  /** The median: a single operation that is sampled otherwise must not stand for all. */
  private double spansPerSample() {
    double[] weights =
        units.subList(selection, units.size()).stream()
            .mapToDouble(unit -> sample.sampleWeight(unit.operation))
            .sorted()
            .toArray();
    return weights.length == 0 ? 1 : weights[weights.length / 2];
  }

  private List<OperationShare> operations() {
    return IntStream.range(0, sample.operations().size())
        .filter(operation -> sample.selected(operation) > 0)
        .mapToObj(operation -> {
          SpanSample.Operation of = sample.operations().get(operation);
          return new OperationShare(
              of.name(),
              SpanKind.values()[of.kind()].name(),
              sample.spans(operation),
              sample.selected(operation));
        })
        .sorted(
            Comparator.comparingLong(OperationShare::selectedSpans)
                .reversed()
                .thenComparing(OperationShare::operation)
                .thenComparing(OperationShare::kind))
        .limit(MAX_OPERATIONS)
        .toList();
  }

  private Cause cause(Group group) {
    Property first = group.first;
    Contrast contrast = first.contrast;
    double high = contrast.baselineHigh();
    return new Cause(
        first.attributes,
        contrast.a(),
        contrast.c(),
        contrast.selectionShare(),
        contrast.baselineShare(),
        contrast.baselineLow(),
        high,
        contrast.baselineShare() == 0 ? null : contrast.selectionShare() / contrast.baselineShare(),
        contrast.selectionShare() / high,
        contrast.explained(),
        contrast.g(),
        traces(first),
        group.others.stream()
            .map(other ->
                new Correlated(
                    other.attributes,
                    other.contrast.selectionShare(),
                    other.contrast.baselineShare()))
            .toList());
  }

  private List<Example> traces(Property property) {
    List<Unit> longest =
        Arrays.stream(property.units, 0, selected(property.units))
            .mapToObj(units::get)
            .sorted(
                Comparator.<Unit>comparingLong(unit -> -unit.durationNanos)
                    .thenComparing(Causes::traceId))
            .toList();
    Map<String, Example> examples = new LinkedHashMap<>();
    for (Unit unit : longest) {
      if (examples.size() < MAX_TRACES) {
        examples.putIfAbsent(
            traceId(unit),
            new Example(
                traceId(unit),
                HexFormat.of().toHexDigits(unit.spanId),
                Instant.ofEpochSecond(0, unit.startUnixNanos),
                unit.durationNanos / NANOS_PER_MILLI));
      }
    }
    return List.copyOf(examples.values());
  }

  private static String traceId(Unit unit) {
    return TraceId.toHex(unit.traceHigh, unit.traceLow);
  }
}
