package org.traceetl.server.migration;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.Profile;
import org.traceetl.server.config.SeriesConfig.From;

/** The dimensions that are being translated. Those that the server would refuse become gaps. */
final class Dimensions {
  private static final int MAX = 32;
  private static final int MAX_OF_EVENTS = 8;

  private final Report report;
  private final Set<String> labels = new HashSet<>();
  private final Set<String> sources = new HashSet<>();
  private final List<Map<String, String>> ofSpans = new ArrayList<>();
  private final List<String> ofEvents = new ArrayList<>();

  Dimensions(Report report, Profile profile) {
    this.report = report;
    labels.addAll(profile.labels());
    labels.add(MetricsConfig.OVERFLOW_LABEL);
    labels.add(MetricsConfig.QUEUE_LABEL);
    labels.add(MetricsConfig.FORM_LABEL);
  }

  /**
   * Adds a dimension.
   *
   * @param label null for the attribute's key with underscores
   * @param from where the attribute is read, in this order
   */
  void add(Value value, String attribute, String label, From from) {
    String underscored = MetricsConfig.underscored(attribute);
    // The Collector and Prometheus begin such labels in this way.
    String given = Character.isDigit(underscored.charAt(0)) ? "key_" + underscored : underscored;
    String name = label == null ? given : label;
    if (!accept(value, attribute, name, from)) {
      return;
    }
    Map<String, String> keys = new LinkedHashMap<>();
    keys.put("attribute", ServerYaml.text(attribute));
    if (!name.equals(underscored)) {
      keys.put("label", ServerYaml.text(name));
    }
    if (from != From.ANY) {
      keys.put("from", from.name().toLowerCase(Locale.ROOT));
    }
    ofSpans.add(keys);
  }

  /** Adds an attribute of events. Call this after all dimensions of spans are added. */
  void addOfEvents(Value value, String attribute) {
    if (ofEvents.size() == MAX_OF_EVENTS) {
      report.gap(value, "is left out: trace-etl.events.dimensions has at most " + MAX_OF_EVENTS);
    } else if (accept(value, attribute, MetricsConfig.underscored(attribute), From.EVENT)) {
      ofEvents.add(attribute);
    }
  }

  /** Makes room for the label of the event's name, which series of events have. */
  void countEvents() {
    labels.add("event_name");
  }

  private boolean accept(Value value, String attribute, String label, From from) {
    if (!label.matches("[a-zA-Z_][a-zA-Z0-9_]*") || label.startsWith("__") || label.equals("le")) {
      report.gap(value, "is left out: " + label + " cannot be a label of trace-etl");
      return false;
    }
    if (labels.contains(label)) {
      report.gap(
          value,
          "is left out: another attribute, or every series, has the label "
              + label
              + "; if you need both, give this one a label in trace-etl.series.dimensions");
      return false;
    }
    if ((from.readsSpan() && sources.contains("span " + attribute))
        || (from.readsResource() && sources.contains("resource " + attribute))) {
      report.gap(value, "is left out: trace-etl makes one label of an attribute");
      return false;
    }
    if (size() == MAX) {
      report.gap(value, "is left out: trace-etl.series.dimensions has at most " + MAX);
      return false;
    }
    labels.add(label);
    if (from.readsSpan()) {
      sources.add("span " + attribute);
    }
    if (from.readsResource()) {
      sources.add("resource " + attribute);
    }
    return true;
  }

  private int size() {
    return ofSpans.size() + ofEvents.size() + (labels.contains("event_name") ? 1 : 0);
  }

  void write(ServerYaml yaml, String origin) {
    yaml.putAll("series", "dimensions", ofSpans, origin);
  }

  List<String> ofEvents() {
    return ofEvents;
  }
}
