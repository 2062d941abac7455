package org.traceetl.server.features.deploys;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.format.DefinitionFormat;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.SeriesDefinition;

/** The versions and operations of a queue's series. Not thread-safe. */
final class SeriesVersions {
  /** How the version of a series is found. */
  static final class Reader {
    /** OTLP's status ERROR, as in series. */
    private static final String ERROR = "2";

    private static final List<String> KINDS =
        List.of(
            Integer.toString(SpanKind.SERVER.ordinal()),
            Integer.toString(SpanKind.CONSUMER.ordinal()));

    private final String label;
    private final int columns;

    /** Position of the version among the values; -1 if it has no column. */
    private final int column;

    /**
     * @param attribute of versions
     * @param dimensions those of the configuration
     */
    Reader(String attribute, List<Dimension> dimensions) {
      label = MetricsConfig.underscored(attribute);
      columns = SeriesDefinition.FIXED_DIMENSIONS + dimensions.size();
      int found = -1;
      for (int i = 0; i < dimensions.size(); i++) {
        Dimension dimension = dimensions.get(i);
        if (!dimension.from().isEvent()
            && (dimension.attribute().equals(attribute) || dimension.label().equals(label))) {
          found = SeriesDefinition.FIXED_DIMENSIONS + i;
        }
      }
      column = found;
    }

    /** Returns null for a series without version, and for one of other spans than requests. */
    private VersionCalls read(SeriesDefinition definition) {
      List<String> values = definition.values();
      String version = column < 0 || column >= values.size() ? null : values.get(column);
      String form = null;
      for (int i = columns; i + 1 < values.size(); i += 2) {
        if (values.get(i).equals(Form.KEY)) {
          form = values.get(i + 1);
        } else if (MetricsConfig.underscored(values.get(i)).equals(label)) {
          version = values.get(i + 1);
        }
      }
      String kind = values.get(SeriesDefinition.SPAN_KIND);
      return version == null || definition.overflow() || !KINDS.contains(kind)
          ? null
          : new VersionCalls(
              values.get(SeriesDefinition.APPLICATION),
              version,
              new Operation(values.get(SeriesDefinition.SPAN_NAME), kind, form));
    }

    private static boolean isFailed(SeriesDefinition definition) {
      return ERROR.equals(definition.values().get(SeriesDefinition.STATUS_CODE));
    }
  }

  private final Reader reader;

  /** By series; null for one without version. */
  private final List<VersionCalls> calls = new ArrayList<>();

  private final BitSet failed = new BitSet();

  SeriesVersions(Reader reader) {
    this.reader = reader;
  }

  /** Replaces all series. Those of another configuration have no version: it may be elsewhere. */
  void replace(QueueImage image) {
    calls.clear();
    for (int series = 0; series < image.slots(); series++) {
      if (image.definition(series) != null) {
        create(image.definition(series));
      }
    }
  }

  void create(SeriesDefinition definition) {
    int series = definition.series();
    if (series < 0 || series >= DefinitionFormat.MAX_SERIES) {
      return;
    }
    VersionCalls its = reader.read(definition);
    while (calls.size() <= series) {
      calls.add(null);
    }
    calls.set(series, its);
    failed.set(series, Reader.isFailed(definition));
  }

  void evict(int series) {
    if (series >= 0 && series < calls.size()) {
      calls.set(series, null);
    }
  }

  /** Returns null for a series without version. */
  VersionCalls calls(int series) {
    return series >= 0 && series < calls.size() ? calls.get(series) : null;
  }

  /** Replaces the calls of a series by those that are kept. */
  void set(int series, VersionCalls kept) {
    calls.set(series, kept);
  }

  boolean isFailed(int series) {
    return failed.get(series);
  }
}
