package org.traceetl.server.journal;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/** Generates chains of windows of one queue, with everything a window can hold. */
public final class RandomWindows {
  public static final QueueId QUEUE = new QueueId("broker-a", 3);
  public static final long SCHEMA = 0x5EED;

  private static final int MAX_SERIES = 200;

  private final Random random;
  private final int stride;
  private final boolean hasNative;
  private final boolean hasPanes;
  private final boolean hasSizes;
  private final TreeMap<Integer, SeriesDefinition> live = new TreeMap<>();
  private long to;
  private long millis = 1_700_000_000_000L;

  public RandomWindows(long seed) {
    random = new Random(seed);
    stride = random.nextInt(1, 40);
    to = random.nextLong(1L << random.nextInt(1, 62));
    hasNative = random.nextBoolean();
    hasPanes = random.nextBoolean();
    hasSizes = stride > 1 && random.nextBoolean();
  }

  public int stride() {
    return stride;
  }

  private int buckets() {
    return hasSizes ? stride - 1 : stride;
  }

  public SealedWindow next() {
    final long from = to;
    to = random.nextInt(20) == 0 ? random.nextLong(1_000) : to + random.nextInt(1_000);
    long openedMillis = millis;
    millis += random.nextInt(-1_000, 30_000);
    List<SeriesDefinition> created = new ArrayList<>();
    List<Integer> evicted = new ArrayList<>();
    List<Integer> touched = new ArrayList<>();
    for (int series = 0; series < random.nextInt(1, MAX_SERIES); series++) {
      SeriesDefinition definition = live.get(series);
      if (definition == null && random.nextInt(3) == 0) {
        definition = definition(series);
        live.put(series, definition);
        created.add(definition);
        touched.add(series);
      } else if (definition != null && random.nextBoolean()) {
        touched.add(series);
      } else if (definition != null && random.nextInt(10) == 0) {
        evicted.add(series);
        live.remove(series);
      }
    }
    Collections.shuffle(touched, random);
    List<TraceDocument> documents = new ArrayList<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      documents.add(document());
    }
    int rows = touched.size();
    int[] exemplars = new int[rows];
    int[] exemplarBuckets = new int[rows];
    long[] carries = new long[rows];
    for (int row = 0; row < rows; row++) {
      boolean has = !documents.isEmpty() && random.nextInt(3) == 0;
      exemplars[row] = has ? random.nextInt(documents.size()) : -1;
      exemplarBuckets[row] = has ? random.nextInt(buckets()) : 0;
      carries[row] = random.nextInt(3) == 0 ? random.nextLong(1L << 40) : 0;
    }
    long[] counts =
        random
            .longs((long) rows * stride)
            .map(count -> count % 3 == 0 ? count >>> random.nextInt(20, 64) : 0)
            .toArray();
    long[] durationNanos =
        random.longs(rows).map(nanos -> nanos >>> random.nextInt(4, 64)).toArray();
    NativeCounts natives = natives(counts, rows);
    return new SealedWindow(
        QUEUE,
        from,
        to,
        openedMillis,
        millis,
        created,
        toInts(evicted),
        rows,
        stride,
        toInts(touched),
        counts,
        durationNanos,
        exemplars,
        exemplarBuckets,
        documents,
        books(Arrays.stream(counts).sum(), hasPanes),
        SCHEMA,
        carries,
        batches(),
        natives,
        hasPanes ? panes(openedMillis, counts, durationNanos, natives) : WindowPanes.NONE,
        hasPanes && random.nextBoolean() ? completeness(openedMillis) : WindowCompleteness.NONE,
        hasPanes && random.nextBoolean()
            ? openedMillis - random.nextLong(1L << random.nextInt(1, 40))
            : SealedWindow.UNKNOWN_CLOSED,
        hasSizes,
        EdgeChange.NONE);
  }

  private WindowCompleteness completeness(long openedMillis) {
    List<WindowCompleteness.Agent> named = new ArrayList<>();
    for (int i = random.nextInt(WindowCompleteness.MAX_NAMED + 1); i > 0; i--) {
      named.add(
          new WindowCompleteness.Agent(
              random.nextBoolean(), random.nextLong(), random.nextLong(), text()));
    }
    long untilMillis = openedMillis - random.nextLong(1L << random.nextInt(1, 62));
    return new WindowCompleteness(
        untilMillis, openedMillis + random.nextInt(30_000), named, random.nextInt(100_000));
  }

  /** Divides rows among random panes, of which the main one gets the rest. */
  private WindowPanes panes(
      long openedMillis, long[] counts, long[] durationNanos, NativeCounts natives) {
    long lengthMillis = random.nextInt(1, 3_600_000);
    long opened = Math.floorDiv(openedMillis, lengthMillis);
    long main = opened - random.nextInt(40);
    TreeSet<Long> numbers = new TreeSet<>();
    for (int i = random.nextInt(6); i > 0; i--) {
      numbers.add(opened + random.nextInt(-50, 5));
    }
    numbers.remove(main);
    long[] spansLeft = counts.clone();
    long[] nanosLeft = durationNanos.clone();
    long[] nativeLeft = natives.counts().clone();
    List<WindowPanes.Pane> others = new ArrayList<>();
    for (long number : numbers) {
      int[] rows =
          IntStream.range(0, durationNanos.length).filter(row -> random.nextBoolean()).toArray();
      if (rows.length > 0) {
        long[] spans =
            Arrays.stream(rows)
                .flatMap(row -> IntStream.range(row * stride, (row + 1) * stride))
                .mapToLong(at -> take(spansLeft, at))
                .toArray();
        others.add(
            new WindowPanes.Pane(
                number * lengthMillis,
                rows,
                spans,
                Arrays.stream(rows).mapToLong(row -> take(nanosLeft, row)).toArray(),
                takeNative(rows, spans, natives, nativeLeft)));
      }
    }
    return new WindowPanes(lengthMillis, main * lengthMillis, random.nextInt(100), others);
  }

  /** Takes a random part of a number. */
  private long take(long[] left, int at) {
    long part = random.nextInt(3) == 0 ? left[at] : random.nextLong(left[at] + 1);
    left[at] -= part;
    return part;
  }

  /** Takes histograms with as many spans as the rows of a pane. */
  private NativeCounts takeNative(int[] rows, long[] spans, NativeCounts natives, long[] left) {
    NativeCounts.Builder taken = new NativeCounts.Builder(rows.length);
    for (int i = 0; i < rows.length; i++) {
      long wanted = Arrays.stream(spans, i * stride, i * stride + buckets()).sum();
      for (int at = natives.begin(rows[i]); at < natives.end(rows[i]); at++) {
        long part = Math.min(wanted, left[at]);
        if (part > 0) {
          taken.add(natives.buckets()[at], part);
          left[at] -= part;
          wanted -= part;
        }
      }
      taken.endRow();
    }
    NativeCounts built = taken.build();
    return built.isEmpty() ? NativeCounts.NONE : built;
  }

  /** Returns histograms with as many spans as the rows. */
  private NativeCounts natives(long[] counts, int rows) {
    NativeCounts.Builder natives = new NativeCounts.Builder(rows);
    for (int row = 0; row < rows; row++) {
      long left = Arrays.stream(counts, row * stride, row * stride + buckets()).sum();
      int bucket = random.nextInt(40);
      for (int i = random.nextInt(8); i > 0 && left > 1; i--) {
        long spans = random.nextLong(left);
        natives.add(bucket, spans);
        left -= spans;
        bucket += 1 + random.nextInt(random.nextInt(4) == 0 ? 2_000 : 3);
      }
      if (left > 0) {
        natives.add(bucket, left);
      }
      natives.endRow();
    }
    NativeCounts built = natives.build();
    return hasNative && !built.isEmpty() ? built : NativeCounts.NONE;
  }

  private static int[] toInts(List<Integer> numbers) {
    return numbers.stream().mapToInt(number -> number).toArray();
  }

  private SeriesDefinition definition(int series) {
    boolean overflow = random.nextInt(10) == 0;
    boolean ofKind = overflow && random.nextBoolean();
    return new SeriesDefinition(
        series,
        millis - random.nextInt(15_000),
        overflow,
        overflow
            ? Arrays.asList(
                text(),
                null,
                ofKind ? Integer.toString(random.nextInt(SeriesDefinition.OF_MEASURES)) : null,
                ofKind ? Integer.toString(random.nextInt(3)) : null,
                null,
                null)
            : values());
  }

  /** Returns values with some further labels, often without any. */
  private List<String> values() {
    List<String> values =
        new ArrayList<>(
            Arrays.asList(
                text(),
                text(),
                Integer.toString(random.nextInt(6)),
                Integer.toString(random.nextInt(3)),
                random.nextBoolean() ? text() : null,
                text()));
    for (int label = random.nextInt(6) - 3; label > 0; label--) {
      values.add("label." + label);
      values.add(text());
    }
    return values;
  }

  private String text() {
    return switch (random.nextInt(4)) {
      case 0 -> "";
      case 1 -> "naïve \uD83D\uDE00 " + random.nextInt(10);
      default -> "GET /item/" + random.nextInt(30);
    };
  }

  private TraceDocument document() {
    return new TraceDocument(
        "%016x%016x".formatted(random.nextLong(), random.nextLong()),
        "%016x".formatted(random.nextLong()),
        text(),
        text(),
        random.nextInt(6),
        random.nextInt(3),
        text(),
        random.nextBoolean() ? random.nextLong() : millis * 1_000_000 - random.nextInt(),
        random.nextLong() >>> random.nextInt(1, 64),
        TraceDocument.Reason.values()[random.nextInt(3)],
        random.nextBoolean() ? Map.of() : Map.of("b", text(), "a", text(), "c", text()));
  }

  /**
   * Returns balanced books.
   *
   * @param counted spans in rows: sampled ones count as several
   * @param hasBytes whether some have bytes
   */
  private List<Books> books(long counted, boolean hasBytes) {
    List<Books> books = new ArrayList<>();
    long left = counted;
    for (int i = random.nextInt(3); i > 0; i--) {
      long recorded = random.nextLong(left + 1);
      long overflowed = random.nextLong(Math.min(3, left - recorded) + 1);
      left -= recorded + overflowed;
      int duplicate = random.nextInt(300);
      int filtered = random.nextInt(100);
      Map<String, Long> rejected =
          random.nextBoolean() ? Map.of() : Map.of("truncated", 3L, "malformed", 1L);
      long received =
          recorded
              + overflowed
              + filtered
              + duplicate
              + rejected.values().stream().mapToLong(spans -> spans).sum();
      books.add(
          new Books(
              text(),
              received,
              recorded,
              overflowed,
              filtered,
              duplicate,
              rejected,
              random.nextInt(2),
              hasBytes ? 7L * filtered : 0));
    }
    return books;
  }

  private AcceptedBatches batches() {
    AcceptedBatches.Builder runs = new AcceptedBatches.Builder(1);
    for (int i = random.nextInt(20); i > 0; i--) {
      long first = random.nextInt(5) == 0 ? random.nextLong() >>> 1 : random.nextInt(10_000);
      long last = first + Math.min(random.nextInt(5_000), Long.MAX_VALUE - first);
      runs.add(
          random.nextInt(3) - 1L,
          random.nextInt(3) - 1L,
          random.nextInt(5) == 0 ? random.nextLong() : random.nextInt(3),
          first,
          last);
    }
    return runs.take();
  }
}
