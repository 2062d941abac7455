package org.traceetl.server.features.preview;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.traceetl.proto.BundleReader;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.Rejection;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.decode.DimensionKeys;
import org.traceetl.server.decode.MappedProfile;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.decode.SpanColumns;
import org.traceetl.server.decode.Texts;
import org.traceetl.server.log.Printable;
import org.traceetl.server.series.Applications;
import org.traceetl.server.series.NamePatterns;
import org.traceetl.server.series.RecordingFilter;
import org.traceetl.server.series.SpanNames;
import org.traceetl.server.series.Utf8;

/**
 * Counts the series that a configuration would create from batches of spans, without limits and
 * learnt names. If groups by a demand lack a dimension, its keys are estimated from samples. Stores
 * a bounded number of 64-bit hashes of keys. Not thread-safe.
 */
final class Preview {
  private static final HashFunction HASH = Hashing.farmHashFingerprint64();
  private static final int MAX_APPLICATIONS_SHOWN = 50;
  private static final int MAX_NAME = 48;

  private final SeriesConfig config;
  private final int maxKeys;
  private final BatchDecoder decoder;
  private final SpanNames names;
  private final RecordingFilter filter;
  private final Map<String, ApplicationEstimate> tallies = new HashMap<>();
  private final boolean isMapped;
  private final long[] values;
  private final BitSet lacks = new BitSet();
  private int keys;
  private long messages;
  private long refused;
  private long filtered;

  /**
   * @param messages format of the messages
   * @param profile null for series that copy attributes
   * @param maxKeys maximum number of stored hashes, each about 60 bytes
   */
  Preview(SeriesConfig config, Messages messages, MappedProfile profile, int maxKeys) {
    this.config = config;
    this.maxKeys = maxKeys;
    decoder =
        new BatchDecoder(
            new DimensionKeys(config.dimensions()),
            profile == null ? null : profile.newMapping(),
            messages);
    names =
        new SpanNames(
            new NamePatterns(config.templates().patterns()),
            config.templates().enabled(),
            config.maxValueBytes(),
            () -> LearntNames.NONE);
    filter = new RecordingFilter(config.filters());
    isMapped = profile != null;
    values = new long[config.dimensions().size()];
  }

  /** Returns whether the preview is full and must receive no more messages. */
  boolean isFull() {
    return keys >= maxKeys;
  }

  /** Adds a message. The batches of a bundle count as messages, heartbeats do not. */
  void add(byte[] message) {
    if (decoder.isHeartbeat(message)) {
      return;
    }
    if (!decoder.isBundle(message)) {
      add(decoder.decode(message, 0, message.length));
      return;
    }
    BundleReader bundle = decoder.bundle();
    if (bundle.wrap(message, 0, message.length) != Rejection.NONE) {
      messages++;
      refused++;
    }
    for (int part = 0; part < bundle.count(); part++) {
      add(decoder.decodeBundled(message, part));
    }
  }

  private void add(Rejection rejection) {
    messages++;
    if (rejection != Rejection.NONE) {
      refused++;
      return;
    }
    String name = decoder.text(decoder.application(), config.maxValueBytes());
    String application = name.isEmpty() ? Applications.UNNAMED : name;
    ApplicationEstimate tally = tallies.get(application);
    if (tally == null) {
      tally = new ApplicationEstimate(values.length);
      tallies.put(application, tally);
      keys++;
    }
    boolean incomplete = addSpans(application, tally);
    if (incomplete && decoder.decodeSample() == Rejection.NONE) {
      addSamples(application, tally);
    }
  }

  /** Adds the spans of the last batch; returns whether some lack dimensions. */
  private boolean addSpans(String application, ApplicationEstimate tally) {
    int entries = decoder.texts().size();
    names.nextBatch(application, entries);
    long[] nameHashes = new long[entries];
    long[] valueHashes = new long[entries];
    SpanColumns spans = decoder.columns();
    boolean incomplete = false;
    for (int span = 0; span < spans.size(); span++) {
      int count = counted(spans, span);
      if (isMapped && decoder.byDemand() && span >= spans.firstGroup()) {
        // A mapping needs all attributes.
        incomplete = true;
        lacks.set(0, values.length);
        tally.addIncomplete(0, 0, values, lacks, count);
        continue;
      }
      if (leavesOut(application, spans, span)) {
        filtered += count;
        continue;
      }
      setValues(spans, span, valueHashes);
      long name = name(spans.name(span), nameHashes);
      int kindAndStatus = spans.kindAndStatus(span);
      if (lacks.isEmpty()) {
        keys += tally.add(name, kindAndStatus, values, count);
      } else {
        incomplete = true;
        keys += tally.addIncomplete(name, kindAndStatus, values, lacks, count);
      }
    }
    return incomplete;
  }

  private void addSamples(String application, ApplicationEstimate tally) {
    int entries = decoder.texts().size();
    names.nextBatch(application, entries);
    long[] nameHashes = new long[entries];
    long[] valueHashes = new long[entries];
    SpanColumns spans = decoder.columns();
    for (int span = 0; span < spans.size(); span++) {
      if (!leavesOut(application, spans, span)) {
        setValues(spans, span, valueHashes);
        keys +=
            tally.addSample(
                name(spans.name(span), nameHashes),
                spans.kindAndStatus(span),
                values,
                counted(spans, span));
      }
    }
  }

  /** Sets the hashes of an entry's values, and which dimensions it lacks. */
  private void setValues(SpanColumns spans, int span, long[] hashes) {
    lacks.clear();
    boolean isComplete = span < spans.firstGroup();
    for (int i = 0; i < values.length; i++) {
      int entry = spans.dimension(span, i);
      boolean known = isComplete || !decoder.lacks(span, i);
      lacks.set(i, !known);
      values[i] = entry == SpanColumns.NONE || !known ? 0 : value(entry, hashes);
    }
  }

  /** Counts events, which have series but are not spans. */
  private static int counted(SpanColumns spans, int entry) {
    return entry < spans.firstEvent() ? spans.spans(entry) : 0;
  }

  private boolean leavesOut(String application, SpanColumns spans, int span) {
    if (spans.kindAndStatus(span) == SpanColumns.NONE) {
      return true;
    }
    if (filter.isEmpty()) {
      return false;
    }
    resolve(spans.name(span));
    int length = cut(names.buffer(), names.offset(), names.length());
    String name = new String(names.buffer(), names.offset(), length, UTF_8);
    return filter.leavesOut(application, name, spans.kind(span));
  }

  private long name(int entry, long[] hashes) {
    if (hashes[entry] == 0) {
      resolve(entry);
      hashes[entry] = hash(names.buffer(), names.offset(), names.length());
    }
    return hashes[entry];
  }

  private void resolve(int entry) {
    Texts texts = decoder.texts();
    names.resolve(entry, texts.buffer(entry), texts.offset(entry), texts.length(entry));
  }

  private long value(int entry, long[] hashes) {
    Texts texts = decoder.texts();
    int length = texts.length(entry);
    if (hashes[entry] == 0 && length > 0) {
      hashes[entry] = hash(texts.buffer(entry), texts.offset(entry), length);
    }
    return hashes[entry];
  }

  /** Never 0. */
  private long hash(byte[] buffer, int offset, int length) {
    return HASH.hashBytes(buffer, offset, cut(buffer, offset, length)).asLong() | 1;
  }

  private int cut(byte[] buffer, int offset, int length) {
    return Utf8.cut(buffer, offset, length, config.maxValueBytes());
  }

  void print(PrintWriter out) {
    out.printf(
        Locale.ROOT,
        "%d messages (%d refused), %d spans (%d filtered), %d applications%n",
        messages,
        refused,
        sum(ApplicationEstimate::spans) + filtered,
        filtered,
        tallies.size());
    if (isFull()) {
      out.println("The preview is full: the figures cover only the messages read so far.");
    }
    out.println();
    List<Map.Entry<String, ApplicationEstimate>> applications = new ArrayList<>(tallies.entrySet());
    applications.sort(
        Comparator.comparingLong(
                (Map.Entry<String, ApplicationEstimate> entry) -> entry.getValue().series())
            .reversed()
            .thenComparing(Map.Entry::getKey));
    StringBuilder head = new StringBuilder();
    head.append(row("application", "spans", "names", "series without", "series"));
    config
        .dimensions()
        .forEach(d -> head.append("  ").append(d.label()).append(" (series without it)"));
    out.println(head);
    line(
        out,
        "all",
        sum(ApplicationEstimate::spans),
        sum(ApplicationEstimate::names),
        sum(ApplicationEstimate::plain),
        sum(ApplicationEstimate::series),
        i ->
            figure(
                sum(tally -> tally.values(i)),
                tallies.values().stream().anyMatch(tally -> tally.lacks(i))),
        i ->
            figure(
                sum(tally -> tally.without(i)),
                tallies.values().stream().anyMatch(tally -> tally.lacksOther(i))),
        sum(ApplicationEstimate::incomplete) > 0);
    for (Map.Entry<String, ApplicationEstimate> entry :
        applications.subList(0, Math.min(applications.size(), MAX_APPLICATIONS_SHOWN))) {
      ApplicationEstimate tally = entry.getValue();
      line(
          out,
          entry.getKey(),
          tally.spans(),
          tally.names(),
          tally.plain(),
          tally.series(),
          i -> figure(tally.values(i), tally.lacks(i)),
          i -> figure(tally.without(i), tally.lacksOther(i)),
          tally.incomplete() > 0);
    }
    int more = applications.size() - MAX_APPLICATIONS_SHOWN;
    if (more > 0) {
      out.println("and " + more + " applications with fewer series");
    }
    explainEstimates(out);
    warn(out, applications);
  }

  private static String figure(long figure, boolean isEstimate) {
    return (isEstimate ? "~" : "") + figure;
  }

  private void explainEstimates(PrintWriter out) {
    long incomplete = sum(ApplicationEstimate::incomplete);
    if (incomplete == 0) {
      return;
    }
    out.printf(
        Locale.ROOT,
        "%n~ from a sample: agents sent %d spans in groups without %s, and %d of them also whole.%n"
            + "A key that only one of these has counts as the square root of spans per whole one.%n",
        incomplete,
        isMapped
            ? "their attributes"
            : lacking(i -> tallies.values().stream().anyMatch(tally -> tally.lacks(i))),
        sum(ApplicationEstimate::samples));
    long without =
        tallies.values().stream()
            .filter(tally -> tally.incomplete() > 0 && tally.samples() == 0)
            .count();
    if (without > 0) {
      out.printf(
          Locale.ROOT,
          "Too few keys are known of applications without a whole one: %d. Read more messages, or"
              + " set detail.sample-ratio of the agents.%n",
          without);
    }
  }

  private String lacking(IntPredicate lacks) {
    return IntStream.range(0, values.length)
        .filter(lacks)
        .mapToObj(i -> config.dimensions().get(i).label())
        .collect(Collectors.joining(", "));
  }

  private void warn(PrintWriter out, List<Map.Entry<String, ApplicationEstimate>> applications) {
    long above =
        applications.stream()
            .filter(entry -> entry.getValue().series() > config.maxPerApplication())
            .count();
    if (above > 0) {
      out.printf(
          Locale.ROOT,
          "%nApplications with more series than trace-etl.series.max-per-application = %d,"
              + " the limit on one queue: %d%n",
          config.maxPerApplication(),
          above);
    }
    if (sum(ApplicationEstimate::series) > config.max()) {
      out.printf(
          Locale.ROOT,
          "%nThe series exceed trace-etl.series.max = %d, the limit of one server.%n",
          config.max());
    }
  }

  /** A figure of a dimension. */
  private interface Figure {
    String of(int dimension);
  }

  private void line(
      PrintWriter out,
      String application,
      long spans,
      long itsNames,
      long plain,
      long series,
      Figure ofValues,
      Figure without,
      boolean isEstimate) {
    StringBuilder line =
        new StringBuilder(
            row(
                Printable.of(application, MAX_NAME),
                Long.toString(spans),
                Long.toString(itsNames),
                Long.toString(plain),
                figure(series, isEstimate)));
    for (int i = 0; i < values.length; i++) {
      line.append("  ").append(ofValues.of(i)).append(" (").append(without.of(i)).append(')');
    }
    out.println(line);
  }

  private static String row(String application, String... figures) {
    StringBuilder row =
        new StringBuilder(String.format(Locale.ROOT, "%-" + MAX_NAME + "s", application));
    for (String figure : figures) {
      row.append(String.format(Locale.ROOT, "  %14s", figure));
    }
    return row.toString();
  }

  private long sum(ToLongFunction<ApplicationEstimate> figure) {
    return tallies.values().stream().mapToLong(figure).sum();
  }
}
