package org.traceetl.server.decode;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.traceetl.common.WildcardPattern;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.window.Buckets;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.MeasureForm;

/**
 * The measures of one application, those of its objectives last, prepared for its batches. Each
 * attribute that they need has a number, and each text that their labels have in all series.
 * Immutable.
 */
public final class SpanMeasures {
  /** No measures. */
  public static final SpanMeasures NONE = new SpanMeasures(List.of(), List.of());

  /** No attribute or text. */
  static final int ABSENT = -1;

  /**
   * A label of a measure.
   *
   * @param name number of its name among {@link #texts}
   * @param constant number of its value among them; {@link #ABSENT} if an attribute has the value
   * @param ofSpan number of the attribute of spans; {@link #ABSENT} if it is not read there
   * @param ofResource number of the attribute of resources; {@link #ABSENT} if it is not read there
   */
  record Label(int name, int constant, int ofSpan, int ofResource) {}

  /**
   * A measure with the numbers of its attributes.
   *
   * @param kinds bit k: spans of kind k match
   * @param value number of the attribute with the value; {@link #ABSENT} for other values
   * @param required numbers of attributes that a span must have; {@code value} is one of them
   * @param name number of its name among {@link #texts}
   * @param labels sorted by name; the first one is the form
   * @param overflow those of its overflow series
   * @param overflowTexts the same, name and value in turn
   * @param buckets of its values in {@link MeasureConfig#parts}
   * @param operation names of spans that match; null for all
   * @param goodNanos failed spans, and those of at least this duration, add 0; {@link #ABSENT} for
   *     measures to which all add their value
   */
  record Measure(
      MeasureConfig config,
      int kinds,
      int value,
      List<Integer> required,
      int name,
      List<Label> labels,
      List<Label> overflow,
      List<String> overflowTexts,
      Buckets buckets,
      WildcardPattern operation,
      long goodNanos) {}

  private final List<MeasureConfig> configured;
  private final List<ObjectiveConfig> objectives;
  private final List<Measure> measures;
  private final int kinds;
  private final boolean hasOperations;
  private final AttributeKeys ofSpan;
  private final AttributeKeys ofResource;
  private final List<byte[]> texts;

  /**
   * @param configured checked by {@link MeasureConfig#checkAll}
   * @param objectives checked by {@link ObjectiveConfig#checkAll}
   */
  public SpanMeasures(List<MeasureConfig> configured, List<ObjectiveConfig> objectives) {
    this.configured = List.copyOf(configured);
    this.objectives = List.copyOf(objectives);
    Numbers spans = new Numbers();
    Numbers resources = new Numbers();
    Numbers labels = new Numbers();
    measures = new ArrayList<>();
    configured.forEach(
        config -> measures.add(prepared(config, null, ABSENT, spans, resources, labels)));
    for (ObjectiveConfig each : objectives) {
      WildcardPattern operation =
          each.operation() == null ? null : new WildcardPattern(each.operation());
      long goodNanos = each.fasterThan() == null ? Long.MAX_VALUE : each.fasterThan().toNanos();
      measures.add(prepared(each.events(), operation, ABSENT, spans, resources, labels));
      measures.add(prepared(each.good(), operation, goodNanos, spans, resources, labels));
    }
    kinds = measures.stream().mapToInt(Measure::kinds).reduce(0, (one, other) -> one | other);
    hasOperations = measures.stream().anyMatch(each -> each.operation() != null);
    ofSpan = new AttributeKeys(spans.names());
    ofResource = new AttributeKeys(resources.names());
    texts = labels.names().stream().map(text -> text.getBytes(UTF_8)).toList();
  }

  /** Numbers texts in the order in which they occur. */
  private static final class Numbers {
    private final Map<String, Integer> numbers = new LinkedHashMap<>();

    int of(String text) {
      return numbers.computeIfAbsent(text, each -> numbers.size());
    }

    List<String> names() {
      return List.copyOf(numbers.keySet());
    }
  }

  private static Measure prepared(
      MeasureConfig config,
      WildcardPattern operation,
      long goodNanos,
      Numbers spans,
      Numbers resources,
      Numbers texts) {
    int kinds =
        IntStream.range(0, SpanKind.values().length)
            .filter(config::hasKind)
            .map(kind -> 1 << kind)
            .sum();
    List<Integer> required = new ArrayList<>();
    int value = config.attribute() == null ? ABSENT : spans.of(config.attribute());
    if (value != ABSENT) {
      required.add(value);
    }
    config.requires().forEach(key -> required.add(spans.of(key)));
    Label form = constant(Form.KEY, form(config).text(), texts);
    // A name occurs once.
    Map<String, Label> labels = new LinkedHashMap<>();
    labels.put(Form.KEY, form);
    for (Dimension each : config.dimensions()) {
      labels.put(
          each.utf8Label(),
          new Label(
              texts.of(each.utf8Label()),
              ABSENT,
              each.from().readsSpan() ? spans.of(each.attribute()) : ABSENT,
              each.from().readsResource() ? resources.of(each.attribute()) : ABSENT));
    }
    config
        .labels()
        .forEach(each -> labels.put(each.label(), constant(each.label(), each.value(), texts)));
    List<Label> sorted =
        labels.entrySet().stream()
            .sorted(Map.Entry.comparingByKey(Comparator.naturalOrder()))
            .map(Map.Entry::getValue)
            .toList();
    List<String> overflow =
        new ArrayList<>(
            List.of(Form.KEY, form(config).text(), MetricsConfig.OVERFLOW_LABEL, "true"));
    if (ObjectiveConfig.isMetric(config.name())) {
      // Its one series without a label would be that of all objectives.
      overflow.addAll(List.of(ObjectiveConfig.LABEL, config.labels().getFirst().value()));
    }
    return new Measure(
        config,
        kinds,
        value,
        List.copyOf(required),
        texts.of(config.name()),
        sorted,
        IntStream.range(0, overflow.size() / 2)
            .mapToObj(i -> constant(overflow.get(2 * i), overflow.get(2 * i + 1), texts))
            .toList(),
        List.copyOf(overflow),
        new Buckets(config.boundsInParts()),
        operation,
        goodNanos);
  }

  private static Label constant(String name, String value, Numbers texts) {
    return new Label(texts.of(name), texts.of(value), ABSENT, ABSENT);
  }

  /** Returns what series of a measure name as their form. */
  public static MeasureForm form(MeasureConfig config) {
    return new MeasureForm(
        config.type() == MeasureConfig.Type.HISTOGRAM,
        config.unit(),
        config.description(),
        new Form(config.boundsInParts(), null, config.parts()));
  }

  /**
   * Returns the names of these measures whose series spans may no longer have by other measures.
   */
  public Set<String> changed(SpanMeasures now) {
    if (configured.equals(now.configured) && objectives.equals(now.objectives)) {
      return Set.of();
    }
    Map<String, Set<MeasureConfig>> others = now.byName();
    Map<String, Set<MeasureConfig>> changed = byName();
    changed.entrySet().removeIf(each -> each.getValue().equals(others.get(each.getKey())));
    Set<String> names = new HashSet<>(changed.keySet());
    // The name is all that series have of an objective.
    if (!now.namesOfObjectives().containsAll(namesOfObjectives())) {
      names.addAll(List.of(ObjectiveConfig.EVENTS, ObjectiveConfig.GOOD));
    }
    return names;
  }

  /** Several measures may have the same name. */
  private Map<String, Set<MeasureConfig>> byName() {
    Map<String, Set<MeasureConfig>> byName = new HashMap<>();
    configured.forEach(
        each -> byName.computeIfAbsent(each.name(), name -> new HashSet<>()).add(each));
    return byName;
  }

  private Set<String> namesOfObjectives() {
    return objectives.stream().map(ObjectiveConfig::name).collect(Collectors.toSet());
  }

  /** Returns the objectives that are among the measures. */
  public List<ObjectiveConfig> objectives() {
    return objectives;
  }

  public boolean isEmpty() {
    return measures.isEmpty();
  }

  List<Measure> measures() {
    return measures;
  }

  /** Returns whether any measure has spans of some names only. */
  boolean hasOperations() {
    return hasOperations;
  }

  /** Returns whether any measure has spans of a kind. */
  boolean hasKind(int kind) {
    return (kinds >>> kind & 1) != 0;
  }

  /** Returns the attributes of spans that measures need. */
  AttributeKeys ofSpan() {
    return ofSpan;
  }

  /** Returns the attributes of resources that measures need. */
  AttributeKeys ofResource() {
    return ofResource;
  }

  /** Returns the names of labels, and the values that are the same in all series, in UTF-8. */
  List<byte[]> texts() {
    return texts;
  }
}
