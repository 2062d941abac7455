package org.traceetl.server.features.backfill;

import static org.traceetl.common.ConfigException.check;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.chain.JournalTail;
import org.traceetl.server.log.Printable;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.OpenPanes;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowPanes;

/**
 * The live series of the application around the switch of rules, from the journal of each queue.
 * Each queue switches at a batch of its own, within a pane and a window. So the seam is the last
 * pane in which a queue counted by the rules before; up to it, backfilled series with a new label,
 * or of a new measure, have what such live series lack. For one thread at a time.
 */
final class LiveSeries {
  /** Panes after the seam in which spans may still have counted by the rules before. */
  static final Duration SETTLED = Duration.ofMinutes(5);

  private static final int MAX_SHOWN = 100;

  private final LiveRules live;
  private final String application;
  private final List<Dimension> dimensions;
  private final Form form;

  /** Labels of dimensions, and parts of measures, that only the rules have. */
  private final Set<String> candidates;

  /**
   * @param dimensions of the rules
   * @param measures of the rules
   * @param form of series of spans of the backfill
   */
  LiveSeries(
      LiveRules live,
      String application,
      List<Dimension> dimensions,
      List<MeasureConfig> measures,
      Form form) {
    this.live = live;
    this.application = application;
    this.dimensions = List.copyOf(dimensions);
    this.form = form;
    candidates = newLabels();
    measures.forEach(measure -> candidates.addAll(News.parts(measure)));
    live.measures().forEach(measure -> candidates.removeAll(News.parts(measure)));
  }

  /** What is known of a window. */
  private record Seen(long to, long closedMillis, long paneEndMillis, Set<String> labels) {}

  /** The windows of a queue. */
  private static final class Seens {
    final List<Seen> windows = new ArrayList<>();

    /** By number of the series: its labels; absent for a series of another application. */
    final Map<Integer, Set<String>> labels = new HashMap<>();

    /** Labels of series that began before the rules were published. */
    final Set<String> before = new HashSet<>();

    /** Labels of later series that windows before the first one may have counted. */
    final Set<String> unseen = new HashSet<>();

    /** Labels of series with other buckets than the backfill. */
    final Set<String> otherBuckets = new HashSet<>();

    long closedMillis = SealedWindow.UNKNOWN_CLOSED;
    long to = JournalLog.NONE;

    /** End of the last pane of the windows up to the first one with a new label. */
    long seamMillis = Long.MIN_VALUE;

    private boolean hasSwitched;

    /** Number of windows that were searched for new labels. */
    private int searched;

    /** Forgets all windows. */
    void clear() {
      windows.clear();
      labels.clear();
      seamMillis = Long.MIN_VALUE;
      hasSwitched = false;
      searched = 0;
    }

    /** Returns whether a window counts by the new rules. */
    boolean hasSwitched(Set<String> news) {
      while (!hasSwitched && searched < windows.size()) {
        Seen seen = windows.get(searched++);
        seamMillis = Math.max(seamMillis, seen.paneEndMillis);
        hasSwitched = seen.labels.stream().anyMatch(news::contains);
      }
      return hasSwitched;
    }

    /** Returns the offset after the window that closes all panes until a time, or the last one. */
    long to(long untilMillis) {
      for (Seen seen : windows) {
        if (seen.closedMillis >= untilMillis) {
          return seen.to;
        }
      }
      return to;
    }
  }

  /** Receives what a journal has. */
  private interface Visitor {
    /** The state, which replaces all windows before. */
    void state(QueueImage image);

    void window(SealedWindow window) throws IOException;
  }

  /** Opens the journal of a queue, some time before the rules were published. */
  private JournalTail open(QueueId queue, long publishedMillis, Visitor visitor)
      throws IOException, InterruptedException {
    long sinceMillis = publishedMillis - 2 * live.snapshotInterval().toMillis();
    return live.journals().tail(queue, sinceMillis, visitor::state);
  }

  /** Reads a journal until it is enough, or to its end. */
  private static void read(JournalTail tail, Visitor visitor, BooleanSupplier isEnough)
      throws IOException, InterruptedException {
    while (!isEnough.getAsBoolean()) {
      List<JournalTail.Kept> windows = tail.poll();
      for (JournalTail.Kept kept : windows) {
        visitor.window(kept.window());
      }
      if (windows.isEmpty() && tail.lag() == 0) {
        return;
      }
    }
  }

  /** A journal that is being read. */
  private record Reading(JournalTail tail, Visitor visitor, Seens seens) {
    void until(BooleanSupplier isEnough) throws IOException, InterruptedException {
      read(tail, visitor, isEnough);
    }
  }

  /**
   * Finds the seam.
   *
   * @param queues of the spans
   * @param closedMillis panes that end later are not closed; milliseconds since 1970
   * @throws IOException if journals cannot be read, or do not show the switch
   * @throws org.traceetl.common.ConfigException if no label is new, or series with a new one have
   *     other buckets than the backfill
   */
  Seam find(Collection<QueueId> queues, long closedMillis)
      throws IOException, InterruptedException {
    long publishedMillis = live.publication().publishedMillis();
    Map<QueueId, Reading> all = new LinkedHashMap<>();
    Set<String> news = new TreeSet<>(candidates);
    for (QueueId queue : queues) {
      Reading reading = reading(queue, publishedMillis);
      all.put(queue, reading);
      reading.until(() -> reading.seens.closedMillis >= publishedMillis);
      news.removeAll(reading.seens.before);
    }
    check(
        !news.isEmpty(),
        "--until",
        Seam.SWITCH,
        "needs rules with a dimension or measure that series did not have before; use a time");
    long seamMillis = Long.MIN_VALUE;
    for (Map.Entry<QueueId, Reading> of : all.entrySet()) {
      Seens seens = of.getValue().seens;
      of.getValue().until(() -> seens.hasSwitched(news));
      if (seens.unseen.stream().anyMatch(news::contains)) {
        throw new IOException(
            "The journal of queue "
                + of.getKey()
                + " no longer has the windows of the switch; use a time as --until");
      }
      if (seens.hasSwitched(news)) {
        seamMillis = Math.max(seamMillis, seens.seamMillis);
      }
    }
    if (seamMillis == Long.MIN_VALUE) {
      throw new IOException(
          "Servers have counted no spans of application "
              + Printable.of(application, MAX_SHOWN)
              + " with "
              + seam(publishedMillis, news, seamMillis, seamMillis, List.of()).shown(false)
              + " yet; repeat the command later");
    }
    if (seamMillis > closedMillis) {
      throw new IOException(
          "The switch ended at "
              + Instant.ofEpochMilli(seamMillis)
              + "; its panes are not closed yet. Repeat the command later");
    }
    long untilMillis = Math.min(closedMillis, seamMillis + SETTLED.toMillis());
    List<Seam.End> ends = new ArrayList<>();
    for (Map.Entry<QueueId, Reading> of : all.entrySet()) {
      Seens seens = of.getValue().seens;
      of.getValue().until(() -> seens.closedMillis >= untilMillis);
      checkBuckets(seens.otherBuckets.stream().noneMatch(news::contains));
      long to = seens.to(untilMillis);
      if (to != JournalLog.NONE) {
        ends.add(new Seam.End(of.getKey().broker(), of.getKey().queue(), to));
      }
    }
    return seam(publishedMillis, news, seamMillis, untilMillis, ends);
  }

  private Seam seam(
      long publishedMillis,
      Set<String> news,
      long seamMillis,
      long untilMillis,
      List<Seam.End> ends) {
    Set<String> labels = newLabels();
    return new Seam(
        publishedMillis,
        news.stream().filter(labels::contains).toList(),
        news.stream().filter(part -> !labels.contains(part)).toList(),
        seamMillis,
        untilMillis,
        ends);
  }

  /** Refuses live series whose numbers are not those of the backfill's buckets. */
  static void checkBuckets(boolean areEqual) {
    check(
        areEqual,
        "--until",
        Seam.SWITCH,
        "needs live series with the buckets of the backfill; use a time");
  }

  /** Returns the labels of dimensions that only the rules have. */
  private Set<String> newLabels() {
    Set<String> configured =
        live.columns().stream().map(Dimension::label).collect(Collectors.toSet());
    return dimensions.stream()
        .filter(dimension -> !configured.contains(dimension.label()))
        .map(Dimension::utf8Label)
        .collect(Collectors.toCollection(HashSet::new));
  }

  private Reading reading(QueueId queue, long publishedMillis)
      throws IOException, InterruptedException {
    Seens seens = new Seens();
    Visitor visitor =
        new Visitor() {
          @Override
          public void state(QueueImage image) {
            seens.clear();
            seens.to = image.to();
            for (int series = 0; series < image.slots(); series++) {
              if (image.definition(series) != null) {
                create(image.definition(series), true);
              }
            }
          }

          @Override
          public void window(SealedWindow window) throws IOException {
            window.created().forEach(definition -> create(definition, false));
            Set<String> counted = new HashSet<>();
            boolean isOfApplication = false;
            for (int row = 0; row < window.rows(); row++) {
              Set<String> labels = seens.labels.get(window.series()[row]);
              isOfApplication |= labels != null;
              counted.addAll(labels == null ? Set.of() : labels);
            }
            if (isOfApplication && window.panes().isEmpty()) {
              throw new IOException(
                  "The journal of queue "
                      + queue
                      + " has windows without panes; use a time as --until");
            }
            long endMillis = isOfApplication ? lastEnd(window) : Long.MIN_VALUE;
            for (int series : window.evicted()) {
              seens.labels.remove(series);
            }
            seens.to = window.to();
            seens.closedMillis = Math.max(seens.closedMillis, window.closedMillis());
            seens.windows.add(new Seen(window.to(), seens.closedMillis, endMillis, counted));
          }

          private long lastEnd(SealedWindow window) {
            WindowPanes panes = window.panes();
            long startMillis =
                panes.others().isEmpty()
                    ? panes.mainMillis()
                    : Math.max(panes.mainMillis(), panes.others().getLast().startMillis());
            return OpenPanes.countedUntil(startMillis, panes.lengthMillis(), seens.closedMillis);
          }

          private void create(SeriesDefinition definition, boolean isOfState) {
            seens.labels.remove(definition.series());
            if (isOfApplication(definition)) {
              Set<String> labels = labels(definition);
              seens.labels.put(definition.series(), labels);
              if (!hasBuckets(definition)) {
                seens.otherBuckets.addAll(labels);
              }
              if (definition.createdMillis() < publishedMillis) {
                seens.before.addAll(labels);
              } else if (isOfState) {
                seens.unseen.addAll(labels);
              }
            }
          }
        };
    return new Reading(open(queue, publishedMillis, visitor), visitor, seens);
  }

  /** Returns whether a series is of spans or a measure of the application. */
  private boolean isOfApplication(SeriesDefinition definition) {
    return application.equals(definition.values().get(SeriesDefinition.APPLICATION))
        && (definition.isOfSpans() || definition.isOfMeasure());
  }

  /** Returns whether a live series has the buckets of the backfill. */
  private boolean hasBuckets(SeriesDefinition definition) {
    if (definition.isOfMeasure()) {
      // Its form is a part of it.
      return true;
    }
    List<String> values = definition.values();
    int at = firstLabel();
    Form ofSeries =
        at + 1 < values.size() && Form.KEY.equals(values.get(at))
            ? Form.parse(values.get(at + 1))
            : live.form();
    return ofSeries != null
        && Arrays.equals(ofSeries.boundsNanos(), form.boundsNanos())
        && (form.nativeBuckets() == null || form.nativeBuckets() == ofSeries.nativeBuckets());
  }

  /** Returns the labels or parts of a measure that only the rules have. */
  private Set<String> labels(SeriesDefinition definition) {
    if (definition.isOfMeasure()) {
      Set<String> parts = new HashSet<>(News.parts(definition, firstLabel()));
      parts.retainAll(candidates);
      return parts;
    }
    List<String> values = definition.values();
    Set<String> labels = new HashSet<>();
    if (!definition.overflow()) {
      for (int at = firstLabel(); at + 1 < values.size(); at += 2) {
        labels.add(values.get(at));
      }
    }
    return labels;
  }

  /** Returns the place of the first label in the values of a live series. */
  private int firstLabel() {
    return SeriesDefinition.FIXED_DIMENSIONS + live.columns().size();
  }

  /** Returns what is new in backfilled series. */
  News news(Seam seam) {
    return new News(
        IntStream.range(0, dimensions.size())
            .filter(i -> seam.labels().contains(dimensions.get(i).utf8Label()))
            .mapToObj(i -> SeriesDefinition.FIXED_DIMENSIONS + i)
            .collect(Collectors.toSet()),
        Set.copyOf(seam.measures()),
        SeriesDefinition.FIXED_DIMENSIONS + dimensions.size());
  }

  /**
   * Takes away what live series with new labels counted before the ends of a seam.
   *
   * @throws IOException if a journal cannot be read, or no longer has the windows of the switch
   */
  void takeFrom(OpenSums sums, SpanNaming naming, Seam seam)
      throws IOException, InterruptedException {
    News news = news(seam);
    for (Seam.End end : seam.ends()) {
      QueueId queue = new QueueId(end.broker(), end.queue());
      WindowSums windows = new WindowSums(sums, true, definition -> key(definition, naming, news));
      long[] to = {JournalLog.NONE};
      boolean[] lacksWindows = {false};
      Visitor visitor =
          new Visitor() {
            @Override
            public void state(QueueImage image) {
              to[0] = image.to();
              for (int series = 0; series < image.slots(); series++) {
                if (image.definition(series) != null) {
                  windows.create(image.definition(series));
                  lacksWindows[0] |= isUnseen(image.definition(series), seam);
                }
              }
            }

            @Override
            public void window(SealedWindow window) {
              if (window.to() <= end.to()) {
                windows.add(window);
                to[0] = window.to();
              }
            }
          };
      read(open(queue, seam.publishedMillis(), visitor), visitor, () -> to[0] >= end.to());
      if (lacksWindows[0] || to[0] != end.to()) {
        throw new IOException(
            "The journal of queue "
                + queue
                + " no longer has the windows of the switch until offset "
                + end.to()
                + "; use an empty directory and a time as --until");
      }
    }
  }

  /** Returns whether windows before a state may have counted a series with a label of a seam. */
  private boolean isUnseen(SeriesDefinition definition, Seam seam) {
    return isOfApplication(definition)
        && definition.createdMillis() >= seam.publishedMillis()
        && labels(definition).stream()
            .anyMatch(label -> seam.labels().contains(label) || seam.measures().contains(label));
  }

  /** Returns the backfilled series that a live one is; null if it has nothing new. */
  private SeriesKey key(SeriesDefinition definition, SpanNaming naming, News news) {
    if (definition.overflow() || !isOfApplication(definition)) {
      return null;
    }
    List<String> from = definition.values();
    List<String> values = new ArrayList<>(from.subList(0, SeriesDefinition.FIXED_DIMENSIONS));
    for (Dimension dimension : dimensions) {
      values.add(definition.isOfMeasure() ? null : value(from, dimension));
    }
    if (definition.isOfMeasure()) {
      // Its labels are the same.
      values.addAll(from.subList(firstLabel(), from.size()));
    }
    SeriesKey key =
        new SeriesKey(
            new SeriesDefinition(definition.series(), definition.createdMillis(), false, values),
            naming,
            news);
    return key.isNew() ? key : null;
  }

  /** Returns null without a value. */
  private String value(List<String> from, Dimension dimension) {
    for (int i = 0; i < live.columns().size(); i++) {
      if (live.columns().get(i).label().equals(dimension.label())) {
        return from.get(SeriesDefinition.FIXED_DIMENSIONS + i);
      }
    }
    for (int at = firstLabel(); at + 1 < from.size(); at += 2) {
      if (dimension.utf8Label().equals(from.get(at))) {
        return from.get(at + 1);
      }
    }
    return null;
  }
}
