package org.traceetl.server.ozhera;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.MetricsConfig.QueueLabel;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.LabelText;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/**
 * OzHera's metrics as cumulative families. Each series of the journal is one series on the page:
 * series that have the same labels in OzHera are distinguished by outcome, and failed ones by code.
 * So no sample is a sum, which would fall when one of its series ends or moves to another server.
 * For the same reason the histogram {@code _without_methodName} is missing: queries sum over the
 * methods.
 */
public final class OzheraNaming implements Naming {
  private static final String OUTCOME = "outcome";

  /** By outcome. */
  private static final String[] OUTCOMES = {"fast", "slow", "failed"};

  /** Histograms in a section. Adjacent ones have several types. */
  private static final int SECTION_SERIES = 32;

  private final boolean namesQueues;
  private final List<Family> families;
  private final Map<SpanType, long[]> bits = new EnumMap<>(SpanType.class);
  private final Family received;

  /** Creates the naming of one configuration. */
  public OzheraNaming(MetricsConfig metrics, OzheraConfig ozhera) {
    namesQueues = metrics.queueLabel() == QueueLabel.ALWAYS;
    List<Family> all = new ArrayList<>();
    for (SpanType type : SpanType.values()) {
      bits.put(type, addFamilies(all, ozhera.env() + "_hera_", type));
    }
    received =
        Family.counter(
            all.size(), ozhera.env() + "_trace_statistics_span_count", "Spans received.");
    all.add(received);
    families = List.copyOf(all);
  }

  /** Returns the families of each outcome. */
  private static long[] addFamilies(List<Family> all, String prefix, SpanType type) {
    TypeMetrics metrics = TypeMetrics.of(type);
    String what = "Spans of type " + type.documentType();
    long[] ofOutcome = new long[OUTCOMES.length];
    counter(
        all,
        prefix + metrics.total(),
        what + ".",
        ofOutcome,
        SeriesLayout.FAST,
        SeriesLayout.SLOW,
        SeriesLayout.FAILED);
    counter(
        all,
        prefix + metrics.success(),
        what + " that did not fail.",
        ofOutcome,
        SeriesLayout.FAST,
        SeriesLayout.SLOW);
    if (metrics.slow() != null) {
      counter(
          all,
          prefix + metrics.slow(),
          what + " that did not fail and took long.",
          ofOutcome,
          SeriesLayout.SLOW);
    }
    counter(all, prefix + metrics.error(), what + " that failed.", ofOutcome, SeriesLayout.FAILED);
    Family durations =
        Family.histogram(
            all.size(),
            prefix + metrics.durations(),
            "Durations in milliseconds of spans of type " + type.documentType() + ".",
            null,
            SECTION_SERIES,
            new Form(OzheraSeries.boundsNanos(type), null, Unit.MILLISECONDS.nanos()));
    add(all, durations, ofOutcome, SeriesLayout.FAST, SeriesLayout.SLOW, SeriesLayout.FAILED);
    return ofOutcome;
  }

  private static void counter(
      List<Family> all, String name, String help, long[] ofOutcome, int... outcomes) {
    add(all, Family.counter(all.size(), name, help), ofOutcome, outcomes);
  }

  private static void add(List<Family> all, Family family, long[] ofOutcome, int... outcomes) {
    all.add(family);
    for (int outcome : outcomes) {
      ofOutcome[outcome] |= family.bit();
    }
  }

  @Override
  public int stride() {
    return OzheraConfig.boundsMillis().size() + 1;
  }

  @Override
  public List<Family> families() {
    return families;
  }

  @Override
  public Family received() {
    return received;
  }

  /**
   * Returns the families of a series; none for an unknown type, which a later version of the server
   * may have written.
   */
  @Override
  public long families(SeriesDefinition definition) {
    OzheraLabels labels = OzheraLabels.of(definition);
    return labels == null ? 0 : bits.get(labels.type())[labels.outcome()];
  }

  @Override
  public byte[] labels(SeriesDefinition definition, String queue) {
    OzheraLabels labels = OzheraLabels.of(definition);
    var out = new StringBuilder(192);
    if (labels == null) {
      // Not on the page.
      LabelText.append(out, OUTCOME, "");
    } else {
      out.append(labels.isCoded() ? labels.coded() : labels.named());
      LabelText.append(out, OUTCOME, OUTCOMES[labels.outcome()]);
    }
    return Naming.bytes(withQueue(out, queue));
  }

  @Override
  public byte[] labels(String application, String queue) {
    var out = new StringBuilder(64);
    LabelText.append(out, "application", application);
    return Naming.bytes(withQueue(out, queue));
  }

  private static String withQueue(StringBuilder out, String queue) {
    if (queue != null) {
      LabelText.append(out, MetricsConfig.QUEUE_LABEL, queue);
    }
    return out.toString();
  }

  @Override
  public String queueLabel(QueueId queue, boolean overflow) {
    return namesQueues || overflow ? queue.toString() : null;
  }
}
