package org.traceetl.server.expose;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.MetricsConfig.Names;
import org.traceetl.server.config.MetricsConfig.QueueLabel;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.MeasureForm;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/** The families of spans: calls and their variance, durations, sizes and events. */
public final class SpanNaming implements Naming {
  /** Histograms in a section. */
  public static final int SECTION_SERIES = 16;

  /** Index of the durations in the form of the configuration. */
  private static final int DURATIONS = 1;

  /** Families of objectives. Others leave them room, so that no change of rules takes it. */
  private static final int OF_OBJECTIVES = 2;

  private static final String CALLS_HELP = "Spans, by service, name, kind and status.";
  private static final String SIZE_HELP =
      "Bytes of spans as agents received them, by service, name, kind and status.";
  private static final String EVENTS_HELP =
      "Events of spans, by the span's service, name, kind and status and the event's name.";

  private static final String VARIANCE_HELP =
      "Estimated variance of the spans counted, where spans were sampled.";

  private static final String[] KINDS = {
    "SPAN_KIND_UNSPECIFIED",
    "SPAN_KIND_INTERNAL",
    "SPAN_KIND_SERVER",
    "SPAN_KIND_CLIENT",
    "SPAN_KIND_PRODUCER",
    "SPAN_KIND_CONSUMER"
  };
  private static final String[] STATUSES = {
    "STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"
  };

  /** Name of the label of each dimension, in the order of {@link SeriesDefinition#values}. */
  private final List<String> labels;

  /** The labels of the configured dimensions without UTF-8 names, in the same order. */
  private final List<String> underscored;

  /** Labels that no dimension may have. */
  private final Set<String> reserved;

  private final boolean hasUtf8Names;
  private final boolean namesQueues;
  private final String namespace;

  /** Whether the name of durations contains their unit. */
  private final boolean namesUnit;

  /** That of the configuration. */
  private final Form form;

  private final int stride;
  private final boolean countsEvents;

  /**
   * The configured ones, then those of forms, of measures and of variances, in the order of their
   * first series.
   */
  private volatile List<Family> families;

  /** Durations by the text of the form that series name. */
  private final Map<String, Family> ofForms = new HashMap<>();

  /** By name of the metric and text of the form. */
  private record MeasureKey(String metric, String form) {}

  private final Map<MeasureKey, Family> ofMeasures = new HashMap<>();

  /** Begin of the names of measures. */
  private final String prefix;

  /** Null if sizes are not kept. */
  private final Family size;

  /** Null until the first sampled series. */
  private volatile Family variance;

  private final long ofSpans;
  private final long ofEvents;

  /** Creates the naming of a valid configuration, in which all labels are distinct. */
  public SpanNaming(MetricsConfig metrics, SeriesConfig series, HistogramConfig histogram) {
    this(metrics, series, histogram, "");
  }

  /**
   * Creates the naming of a valid configuration with other names of measures.
   *
   * @param prefix begin of the names of measures on pages
   */
  public SpanNaming(
      MetricsConfig metrics, SeriesConfig series, HistogramConfig histogram, String prefix) {
    this.prefix = prefix;
    namesQueues = metrics.queueLabel() == QueueLabel.ALWAYS;
    labels = new ArrayList<>(metrics.profile().labels());
    // Series may have further labels than those of the configured dimensions.
    hasUtf8Names = metrics.names() == Names.UTF_8;
    series
        .dimensions()
        .forEach(dimension ->
            labels.add(LabelText.name(hasUtf8Names ? dimension.utf8Label() : dimension.label())));
    underscored = series.dimensions().stream().map(SeriesConfig.Dimension::label).toList();
    reserved = new HashSet<>(metrics.profile().labels());
    reserved.addAll(
        List.of(MetricsConfig.OVERFLOW_LABEL, MetricsConfig.QUEUE_LABEL, MetricsConfig.FORM_LABEL));
    namespace = metrics.namespace();
    namesUnit = metrics.profile() == StandardProfile.OTEL;
    form = form(histogram, metrics.unit());
    Family calls = Family.counter(0, metrics.namespace() + "_calls", CALLS_HELP);
    Family duration = durations(DURATIONS, form);
    List<Family> all = new ArrayList<>(List.of(calls, duration));
    size =
        metrics.size()
            ? Family.counter(all.size(), metrics.namespace() + "_size", SIZE_HELP)
            : null;
    if (size != null) {
      all.add(size);
    }
    ofSpans = (1L << all.size()) - 1;
    Family events = Family.counter(all.size(), metrics.namespace() + "_events", EVENTS_HELP);
    countsEvents = series.countsEvents();
    if (countsEvents) {
      all.add(events);
    }
    families = List.copyOf(all);
    ofEvents = events.bit();
    stride = duration.buckets() + (size == null ? 0 : 1);
  }

  /** Returns the form of series with such a histogram in such a unit. */
  public static Form form(HistogramConfig histogram, Unit unit) {
    return new Form(
        histogram.boundsNanos(),
        histogram.hasNative() ? histogram.nativeSchema() : null,
        unit.nanos());
  }

  private Family durations(int index, Form of) {
    String unit = of.seconds() ? "seconds" : "milliseconds";
    return Family.histogram(
        index,
        namespace + (namesUnit ? "_duration_" + unit : "_latency"),
        "Duration of spans in " + unit + ".",
        namesUnit ? unit : null,
        SECTION_SERIES,
        of);
  }

  @Override
  public int stride() {
    return stride;
  }

  @Override
  public boolean hasUtf8Names() {
    return hasUtf8Names;
  }

  @Override
  public List<Family> families() {
    return families;
  }

  @Override
  public Family size() {
    return size;
  }

  @Override
  public Family received() {
    return null;
  }

  @Override
  public long families(SeriesDefinition definition) {
    if (countsEvents && definition.isOfEvents()) {
      return ofEvents;
    }
    if (definition.isOfVariance()) {
      return variance().bit();
    }
    String text = form(definition);
    if (definition.isOfMeasure()) {
      Family measure =
          text == null
              ? null
              : ofMeasure(
                  new MeasureKey(definition.values().get(SeriesDefinition.SPAN_NAME), text));
      return measure == null ? 0 : measure.bit();
    }
    if (text == null) {
      return ofSpans;
    }
    Family durations = ofForm(text);
    long others = ofSpans & ~families.get(DURATIONS).bit();
    return durations == null ? others : others | durations.bit();
  }

  /** Returns the maximum number of other families, which leave that of variances its place. */
  private int mostFamilies() {
    return Family.MOST - (variance == null ? 1 : 0);
  }

  private synchronized Family variance() {
    if (variance == null) {
      variance = add(Family.counter(families.size(), namespace + "_calls_variance", VARIANCE_HELP));
    }
    return variance;
  }

  /** Returns the text of the form that a series names; null for the configuration's form. */
  private String form(SeriesDefinition definition) {
    List<String> values = definition.values();
    int at = labels.size();
    return at + 1 < values.size() && Form.KEY.equals(values.get(at)) ? values.get(at + 1) : null;
  }

  /**
   * Returns the family of durations of a form. Null if the text is none, as it may be in a forged
   * journal, if pages cannot show it, or if there is no room for one more.
   */
  private synchronized Family ofForm(String text) {
    Family known = ofForms.get(text);
    if (known != null || families.size() >= mostFamilies() - OF_OBJECTIVES) {
      return known;
    }
    Form parsed = Form.parse(text);
    if (parsed == null
        || parsed.buckets() > buckets()
        || !namesUnit && parsed.seconds() != form.seconds()) {
      return null;
    }
    Family added = add(durations(families.size(), parsed));
    ofForms.put(text, added);
    return added;
  }

  private Family add(Family added) {
    List<Family> all = new ArrayList<>(families);
    all.add(added);
    families = List.copyOf(all);
    return added;
  }

  /**
   * Returns the family of a measure. Null if a forged journal has another name or form than
   * configurations allow, if another metric, or one of another type, has its name, or if there is
   * no room for one more.
   */
  private synchronized Family ofMeasure(MeasureKey key) {
    Family known = ofMeasures.get(key);
    boolean isObjective = ObjectiveConfig.isMetric(key.metric);
    if (known != null || families.size() >= mostFamilies() - (isObjective ? 0 : OF_OBJECTIVES)) {
      return known;
    }
    MeasureForm parsed = MeasureForm.parse(key.form);
    if (parsed == null
        || parsed.form().buckets() > buckets()
        || !(isObjective || MeasureConfig.isName(key.metric, namespace))) {
      return null;
    }
    String name = prefix + MeasureConfig.prometheusName(key.metric, parsed.unit());
    Family added =
        Family.measure(
            families.size(),
            name,
            MeasureConfig.prometheusUnit(parsed.unit()),
            SECTION_SERIES,
            parsed,
            new Family.Metric(key.metric, parsed.unit()));
    boolean isOther =
        families.stream()
            .anyMatch(family ->
                family.name().equals(name)
                    && (family.metricInOtlp() == null
                        || !family.metricInOtlp().name().equals(key.metric)
                        || added.isHistogram() != family.isHistogram()));
    if (isOther) {
      return null;
    }
    ofMeasures.put(key, add(added));
    return added;
  }

  @Override
  public byte[] labels(SeriesDefinition definition, String queue) {
    StringBuilder out = new StringBuilder(128);
    String application = definition.values().get(SeriesDefinition.APPLICATION);
    // Written even if it is empty, so that the next label can begin with a comma.
    LabelText.append(out, labels.getFirst(), application == null ? "" : application);
    if (definition.isOfMeasure()) {
      appendOfMeasure(out, definition);
    } else if (definition.overflow()) {
      LabelText.append(out, MetricsConfig.OVERFLOW_LABEL, "true");
    } else {
      for (int i = 1; i < labels.size() && i < definition.values().size(); i++) {
        String value = definition.values().get(i);
        if (isPresent(value)) {
          LabelText.append(out, labels.get(i), shown(i, value));
        }
      }
      if (definition.values().size() > labels.size()) {
        appendFurther(out, definition.values());
      }
      String text = form(definition);
      if (text != null) {
        LabelText.append(out, MetricsConfig.FORM_LABEL, Form.label(text));
      }
    }
    if (queue != null) {
      LabelText.append(out, MetricsConfig.QUEUE_LABEL, queue);
    }
    return Naming.bytes(out.toString());
  }

  private void appendOfMeasure(StringBuilder out, SeriesDefinition definition) {
    List<String> values = definition.values();
    appendLabels(out, values, new HashSet<>(reserved));
    int overflow = values.lastIndexOf(MetricsConfig.OVERFLOW_LABEL);
    if (overflow >= labels.size() && (overflow - labels.size()) % 2 == 0) {
      LabelText.append(out, MetricsConfig.OVERFLOW_LABEL, "true");
    }
    String text = form(definition);
    if (text != null) {
      LabelText.append(out, MetricsConfig.FORM_LABEL, Form.label(text));
    }
  }

  /** Prometheus treats an empty label as absent. */
  private static boolean isPresent(String value) {
    return value != null && !value.isEmpty();
  }

  /**
   * Appends the labels after the configured dimensions. A forged journal may have any: labels that
   * no dimension may have are left out, and those that are on the series already, also if only a
   * page without UTF-8 names would have them twice.
   */
  private void appendFurther(StringBuilder out, List<String> values) {
    Set<String> taken = new HashSet<>(reserved);
    for (int i = 0; i < underscored.size(); i++) {
      if (isPresent(values.get(SeriesDefinition.FIXED_DIMENSIONS + i))) {
        taken.add(underscored.get(i));
      }
    }
    appendLabels(out, values, taken);
  }

  private void appendLabels(StringBuilder out, List<String> values, Set<String> taken) {
    for (int i = labels.size(); i + 1 < values.size(); i += 2) {
      String label = values.get(i);
      String value = values.get(i + 1);
      if (label == null || !isPresent(value)) {
        continue;
      }
      String plain = MetricsConfig.underscored(label);
      if (SeriesConfig.Dimension.isLabel(plain) && taken.add(plain)) {
        LabelText.append(out, LabelText.name(hasUtf8Names ? label : plain), value);
      }
    }
  }

  @Override
  public byte[] labels(String application, String queue) {
    throw new UnsupportedOperationException("no family has them");
  }

  /** Spans of one series of a measure may be on several queues, as it has fewer labels. */
  @Override
  public String queueLabel(QueueId queue, SeriesDefinition definition) {
    return queueLabel(queue, definition.overflow() || definition.isOfMeasure());
  }

  @Override
  public String queueLabel(QueueId queue, boolean overflow) {
    return namesQueues || overflow ? queue.toString() : null;
  }

  /**
   * Returns a value as pages show it.
   *
   * @param dimension its position in {@link SeriesDefinition#values}
   */
  public String shown(int dimension, String value) {
    return switch (dimension) {
      case SeriesDefinition.SPAN_KIND -> named(KINDS, kindOfSpan(Integer.parseInt(value)));
      case SeriesDefinition.STATUS_CODE -> named(STATUSES, Integer.parseInt(value));
      default -> value;
    };
  }

  private int kindOfSpan(int kind) {
    int withoutVariance = kind % SeriesDefinition.OF_VARIANCE;
    return countsEvents && withoutVariance >= SeriesDefinition.OF_EVENTS
        ? withoutVariance - SeriesDefinition.OF_EVENTS
        : withoutVariance;
  }

  private static String named(String[] names, int number) {
    return number >= 0 && number < names.length ? names[number] : names[0];
  }
}
