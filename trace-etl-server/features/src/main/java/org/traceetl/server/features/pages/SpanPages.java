package org.traceetl.server.features.pages;

import com.google.common.collect.Maps;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.traceetl.common.Clocks;
import org.traceetl.server.component.Background;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.FoldThread;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Lease;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.expose.Page;
import org.traceetl.server.expose.Section;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * The pages of one naming's families, those of spans or of edges. The fold thread owns all series:
 * windows, releases and requests for a page reach it through one bounded queue. It folds the
 * messages that wait, renders the changed queues and publishes all pages by one reference. So a
 * page contains whole windows, and a scrape reads it without a lock.
 *
 * <p>Only recently requested encodings are kept up to date. The first request for another encoding
 * waits until the fold thread has rendered it.
 *
 * <p>A restored queue is shown once its previous owner no longer shows it, and while this process
 * holds its lease. A queue that was never restored has no lease and is shown until its release.
 * Owners extend leases by a volatile write, so that no lease expires because the fold thread is
 * slow. A page knows the leases of its queues, and the server checks the clock after it has the
 * page: if a lease has expired, the page is not sent, and the fold thread renders one without that
 * queue. So a process that pauses and continues never shows a queue that another owner may show. A
 * lease that is extended late brings its queue back, and the fold thread wakes up when a queue's
 * period starts.
 */
public final class SpanPages implements WindowFollower, Background {
  private static final long WANTED_NANOS = TimeUnit.MINUTES.toNanos(5);

  /**
   * Part of the heap for one plain page, half of it with UTF-8 names, which double the formats. Old
   * and new pages coexist in four formats, so all of them take at most half of the heap. The pages
   * of a process that shows edges share it.
   */
  private static final int PLAIN_SHARE = 16;

  private final Naming naming;
  private final List<Format> formats;
  private final Clocks clocks;
  private final LongSupplier nanoClock;
  private final LongConsumer renderedNanos;
  private final long maxPlainBytes;
  private final FoldThread<Message> thread;

  /** Time of the latest request of each encoding, on the nano clock; {@code MIN_VALUE}: never. */
  private final AtomicLongArray askedNanos = new AtomicLongArray(Encoding.values().length);

  private volatile Map<Encoding, PublishedPage> pages = Map.of();
  private volatile Totals totals = new Totals(0, 0, 0, 0, 0, 0);

  /** Leases of the queues that were restored and are not released. */
  private final Map<QueueId, Lease> leases = new ConcurrentHashMap<>();

  // Confined to the fold thread.
  private final Map<QueueId, Held> queues = new TreeMap<>();
  private final List<CumulativeSeries> shown = new ArrayList<>();
  private final LongSet labelSets = new LongSet();
  private final SectionWriter writer = new SectionWriter();
  private final Map<Encoding, PublishedPage> rendered = new EnumMap<>(Encoding.class);
  private final List<Publish> waiting = new ArrayList<>();
  private long windows;
  private long unknownRows;
  private long expiries;

  /** Whether the pages that are being rendered may still be served. */
  private BooleanSupplier current = () -> true;

  /**
   * @param renderedNanos receives, on the fold thread, the duration of each publication
   */
  public SpanPages(Naming naming, Clocks clocks, LongConsumer renderedNanos) {
    this(naming, clocks, renderedNanos, maxPlainBytes(naming));
  }

  /**
   * @param maxPlainBytes approximate size up to which a plain page is stored as it is sent; larger
   *     pages are stored deflated and inflated during sending
   */
  SpanPages(Naming naming, Clocks clocks, LongConsumer renderedNanos, long maxPlainBytes) {
    this.naming = naming;
    formats = Format.of(naming.hasUtf8Names());
    this.clocks = clocks;
    nanoClock = clocks.nanoClock();
    this.renderedNanos = renderedNanos;
    this.maxPlainBytes = maxPlainBytes;
    for (int i = 0; i < askedNanos.length(); i++) {
      askedNanos.set(i, Long.MIN_VALUE);
    }
    thread = new FoldThread<>(new OnFoldThread(), clocks);
  }

  /** Returns the size up to which plain pages are stored as they are sent, if no others exist. */
  static long maxPlainBytes(Naming naming) {
    return Runtime.getRuntime().maxMemory()
        / (naming.hasUtf8Names() ? 2 * PLAIN_SHARE : PLAIN_SHARE);
  }

  @Override
  public void start() {
    thread.start();
  }

  /**
   * Passes the window to the fold thread. Waits while the thread's queue is full: the journal has
   * the window already, so dropping it would make the page wrong.
   *
   * @throws IllegalArgumentException if the window's buckets are not the configured ones
   * @throws IllegalStateException after {@link #close}, or if the fold thread has ended
   */
  @Override
  public void window(SealedWindow window) {
    if (window.rows() > 0 && window.stride() != naming.stride()) {
      throw new IllegalArgumentException(
          "window of queue "
              + window.queue()
              + " from offset "
              + window.from()
              + " has "
              + window.stride()
              + " numbers of a series: must have "
              + naming.stride()
              + ", as configured in trace-etl.histogram and trace-etl.metrics.size");
    }
    thread.put(new Fold(window));
  }

  /**
   * Replaces the series of a queue by those of an image.
   *
   * @throws IllegalArgumentException if the image's buckets are not the configured ones
   * @throws IllegalStateException after {@link #close}, or if the fold thread has ended
   */
  @Override
  public void restored(QueueId queue, QueueImage image, long showFromNanos) {
    if (image.stride() != naming.stride()) {
      throw new IllegalArgumentException(
          "image of queue "
              + queue
              + " has "
              + image.stride()
              + " numbers of a series: must have "
              + naming.stride()
              + ", as configured in trace-etl.histogram and trace-etl.metrics.size");
    }
    Lease lease = new Lease(showFromNanos);
    leases.put(queue, lease);
    thread.put(new Restore(queue, image, lease));
  }

  @Override
  public void shownUntil(QueueId queue, long nanos) {
    Lease lease = leases.get(queue);
    if (lease != null && lease.extend(nanos) && lease.startsInNanos(nanoClock.getAsLong()) <= 0) {
      thread.put(new Refresh());
    }
  }

  @Override
  public void released(QueueId queue) {
    Lease lease = leases.remove(queue);
    if (lease != null) {
      lease.end();
    }
    thread.put(new Release(queue));
  }

  /**
   * Returns the current page; after {@link #close} the last one, while it is current.
   *
   * @throws TimeoutException if it must be rendered first and that takes longer than {@code most}
   * @throws IllegalStateException if the fold thread has failed, because the page would never
   *     change again; or if it must be rendered first after {@link #close}
   */
  public Page page(Encoding encoding, Duration most) throws TimeoutException, InterruptedException {
    return page(encoding, Shard.WHOLE, most);
  }

  /** Returns whether formats differ in the names of labels. */
  boolean hasUtf8Names() {
    return naming.hasUtf8Names();
  }

  /** Returns a shard of the current page, under the same conditions as the page. */
  Page page(Encoding encoding, Shard shard, Duration most)
      throws TimeoutException, InterruptedException {
    if (thread.failed()) {
      throw thread.endedException();
    }
    askedNanos.set(encoding.ordinal(), nanoClock.getAsLong());
    long deadlineNanos = nanoClock.getAsLong() + most.toNanos();
    PublishedPage page = pages.get(encoding);
    while (page == null || !page.whole().current()) {
      await(Duration.ofNanos(deadlineNanos - nanoClock.getAsLong()));
      page = pages.get(encoding);
      if (page == null) {
        throw new TimeoutException(encoding + " is no longer rendered: the clock has jumped");
      }
    }
    return page.page(shard);
  }

  /**
   * Does one step of the fold thread, in place of a started thread; returns the messages applied.
   */
  int doWork() {
    return thread.doWork();
  }

  /** Waits until all earlier windows are on the pages. */
  public void await(Duration most) throws TimeoutException, InterruptedException {
    long deadlineNanos = nanoClock.getAsLong() + most.toNanos();
    var done = new Publish();
    if (!thread.offer(done, most.toNanos())) {
      throw new TimeoutException("the fold thread is overloaded: its queue is full");
    }
    if (!clocks
        .threads()
        .await(
            done.answered, Duration.ofNanos(Math.max(0, deadlineNanos - nanoClock.getAsLong())))) {
      throw new TimeoutException("the page was not ready in time");
    }
    if (!done.published) {
      throw thread.endedException();
    }
  }

  /** Returns the counts of the pages. */
  public Totals totals() {
    return totals;
  }

  /** Returns the size of each page that is kept up to date. */
  public Map<Encoding, Long> pageBytes() {
    return Maps.transformValues(pages, page -> page.whole().bytes());
  }

  @Override
  public boolean alive() {
    return !thread.ended();
  }

  /** Applies the messages that wait. The last pages stay readable. */
  @Override
  public void close() {
    thread.close();
  }

  private final class OnFoldThread implements FoldThread.Fold<Message> {
    /** Returns the time until a queue's period starts. */
    @Override
    public long idleNanos() {
      long nowNanos = nanoClock.getAsLong();
      long waitNanos = Long.MAX_VALUE;
      for (Held held : queues.values()) {
        if (held.lease.hidden() && held.lease.startsInNanos(nowNanos) > 0) {
          waitNanos = Math.min(waitNanos, held.lease.startsInNanos(nowNanos));
        }
      }
      return waitNanos;
    }

    @Override
    public void apply(Message message) {
      switch (message) {
        case Fold(SealedWindow window) -> {
          unknownRows +=
              queues.computeIfAbsent(window.queue(), SpanPages.this::unleased).series.fold(window);
          windows++;
        }
        case Restore(QueueId queue, QueueImage image, Lease lease) -> {
          release(queue);
          CumulativeSeries series = new CumulativeSeries(queue, naming, labelSets);
          series.restore(image);
          queues.put(queue, new Held(series, lease));
        }
        case Release(QueueId queue) -> release(queue);
        case Refresh() -> {}
        case Publish request -> waiting.add(request);
      }
    }

    @Override
    public void settle() {
      publish();
    }

    @Override
    public void end(List<Message> left, IllegalStateException ended) {
      writer.close();
      waiting.forEach(request -> request.answer(false));
      for (Message message : left) {
        if (message instanceof Publish request) {
          request.answer(false);
        }
      }
    }
  }

  private Held unleased(QueueId queue) {
    Lease lease = Lease.untilReleased(nanoClock.getAsLong());
    return new Held(new CumulativeSeries(queue, naming, labelSets), lease);
  }

  private void release(QueueId queue) {
    Held left = queues.remove(queue);
    if (left != null) {
      left.series.release();
    }
  }

  private void publish() {
    long startNanos = nanoClock.getAsLong();
    rendered.clear();
    chooseShown(startNanos);
    for (Format format : formats) {
      render(format);
    }
    pages = Map.copyOf(rendered);
    totals =
        new Totals(
            queues.size(),
            queues.size() - shown.size(),
            shown.stream().mapToInt(CumulativeSeries::size).sum(),
            windows,
            unknownRows,
            expiries);
    renderedNanos.accept(nanoClock.getAsLong() - startNanos);
    waiting.forEach(request -> request.answer(true));
    waiting.clear();
  }

  private void chooseShown(long nowNanos) {
    shown.clear();
    List<Lease> leasesShown = new ArrayList<>();
    for (Held held : queues.values()) {
      boolean wasShown = !held.lease.hidden();
      if (held.lease.show(nowNanos)) {
        shown.add(held.series);
        leasesShown.add(held.lease);
      } else if (wasShown && !held.lease.ended()) {
        expiries++;
      }
    }
    current =
        () -> {
          long servedNanos = nanoClock.getAsLong();
          for (Lease lease : leasesShown) {
            if (!lease.permits(servedNanos)) {
              return false;
            }
          }
          return true;
        };
  }

  private void render(Format format) {
    boolean plain = wanted(Encoding.of(format, false));
    boolean gzip = wanted(Encoding.of(format, true));
    if (!plain && !gzip) {
      queues.values().forEach(held -> held.series.forget(format));
      return;
    }
    // A page that is slow to send is better than none.
    boolean inflated = plain && textBytes() > maxPlainBytes;
    List<Section> sections = new ArrayList<>();
    List<FamilySections> families = new ArrayList<>();
    for (Family family : naming.families()) {
      FamilySections ofName =
          families.stream().filter(each -> each.isOf(family)).findFirst().orElse(null);
      if (ofName == null) {
        ofName = new FamilySections(family);
        families.add(ofName);
      }
      for (CumulativeSeries queue : shown) {
        queue.sections(family, format, plain && !inflated, gzip || inflated, writer, ofName);
      }
    }
    for (FamilySections ofName : families) {
      sections.add(header(ofName.header(format, ofName.bytes())));
      sections.addAll(ofName.sections());
    }
    if (plain) {
      put(Encoding.of(format, false), sections, families, inflated);
    }
    if (gzip) {
      put(Encoding.of(format, true), sections, families, false);
    }
  }

  private void put(
      Encoding encoding, List<Section> sections, List<FamilySections> families, boolean inflated) {
    rendered.put(
        encoding,
        new PublishedPage(
            Page.of(encoding, sections, inflated, current), families, inflated, current));
  }

  /** Returns the approximate size of a plain page of the shown queues. */
  private long textBytes() {
    return shown.stream().mapToLong(CumulativeSeries::textBytes).sum();
  }

  private Section header(byte[] header) {
    writer.begin(true, true);
    writer.ensure(header.length);
    writer.write(header);
    return writer.finish();
  }

  private boolean wanted(Encoding encoding) {
    long asked = askedNanos.get(encoding.ordinal());
    return asked != Long.MIN_VALUE && nanoClock.getAsLong() - asked < WANTED_NANOS;
  }

  /**
   * Counts of the pages.
   *
   * @param queues queues with series in memory
   * @param hidden queues of these that are not shown: a previous owner may show them, or their
   *     lease has expired
   * @param series series on the page
   * @param windows windows folded since the start
   * @param unknownRows rows of windows without a series; 0 unless the program has a fault
   * @param expiries times that a queue was hidden because its lease had expired
   */
  public record Totals(
      int queues, int hidden, int series, long windows, long unknownRows, long expiries) {}

  /** A queue's series, and its lease. */
  private record Held(CumulativeSeries series, Lease lease) {}

  private sealed interface Message {}

  private record Fold(SealedWindow window) implements Message {}

  private record Restore(QueueId queue, QueueImage image, Lease lease) implements Message {}

  private record Release(QueueId queue) implements Message {}

  /** A hidden queue may be shown again. */
  private record Refresh() implements Message {}

  /** A request for pages with all earlier messages. */
  private static final class Publish implements Message {
    private final CountDownLatch answered = new CountDownLatch(1);
    private volatile boolean published;

    void answer(boolean isPublished) {
      published = isPublished;
      answered.countDown();
    }
  }
}
