package org.traceetl.server.decode;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.window.Buckets;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.MeasureForm;

/**
 * The measures of one application, prepared for its batches. Each attribute that they need has a
 * number, and each text that their labels have in all series. Immutable.
 */
public final class SpanMeasures {
  /** No measures. */
  public static final SpanMeasures NONE = new SpanMeasures(List.of());

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
   * @param buckets of its values in {@link MeasureConfig#parts}
   */
  record Measure(
      MeasureConfig config,
      int kinds,
      int value,
      List<Integer> required,
      int name,
      List<Label> labels,
      List<Label> overflow,
      Buckets buckets) {}

  private final List<MeasureConfig> configured;
  private final List<Measure> measures;
  private final int kinds;
  private final AttributeKeys ofSpan;
  private final AttributeKeys ofResource;
  private final List<byte[]> texts;

  /**
   * @param configured checked by {@link MeasureConfig#checkAll}
   */
  public SpanMeasures(List<MeasureConfig> configured) {
    this.configured = List.copyOf(configured);
    Numbers spans = new Numbers();
    Numbers resources = new Numbers();
    Numbers labels = new Numbers();
    measures =
        configured.stream().map(config -> prepared(config, spans, resources, labels)).toList();
    kinds = measures.stream().mapToInt(Measure::kinds).reduce(0, (one, other) -> one | other);
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
      MeasureConfig config, Numbers spans, Numbers resources, Numbers texts) {
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
    return new Measure(
        config,
        kinds,
        value,
        List.copyOf(required),
        texts.of(config.name()),
        sorted,
        List.of(form, constant(MetricsConfig.OVERFLOW_LABEL, "true", texts)),
        new Buckets(config.boundsInParts()));
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
    if (configured.equals(now.configured)) {
      return Set.of();
    }
    Map<String, Set<MeasureConfig>> others = now.byName();
    Map<String, Set<MeasureConfig>> changed = byName();
    changed.entrySet().removeIf(each -> each.getValue().equals(others.get(each.getKey())));
    return changed.keySet();
  }

  /** Several measures may have the same name. */
  private Map<String, Set<MeasureConfig>> byName() {
    return configured.stream()
        .collect(Collectors.groupingBy(MeasureConfig::name, Collectors.toSet()));
  }

  public boolean isEmpty() {
    return measures.isEmpty();
  }

  List<Measure> measures() {
    return measures;
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
