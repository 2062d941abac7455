package org.traceetl.server.features.hotspot;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Measures the arriving spans of each application by queue, for the whole fleet. The movement of a
 * queue's end gives the number of messages; the windows give the applications and the number of
 * spans in them. So a server that is behind with a queue hides nothing, and one that works off a
 * backlog adds nothing. If the end of a queue is unknown now or was before, only the windows count.
 * Thread-safe: one thread adds, one takes.
 *
 * <p>Bounded: a maximum number of applications on a queue; spans of further applications count for
 * the queue only, under the empty name.
 */
final class LoadMeter {
  private static final int MAX_APPLICATIONS = 20_000;

  /** Number of consecutive takes without a window after which a queue is not waited for. */
  private static final int SILENT_TAKES = 3;

  /**
   * Windows with a smaller part of the arrived messages are not representative: the latest
   * representative windows replace them. Without those, the extrapolation is limited to this
   * factor.
   */
  private static final int MOST_FACTOR = 16;

  private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

  /** The content of a number of messages of a queue. */
  private record Sample(Map<String, Long> spans, long messages) {
    static final Sample NONE = new Sample(Map.of(), 0);

    long allSpans() {
      return spans.values().stream().mapToLong(Long::longValue).sum();
    }

    double spansPerMessage() {
      return messages == 0 ? Double.NaN : (double) allSpans() / messages;
    }
  }

  /** One queue. */
  private static final class SampledSpans {
    // Since the last take.
    private Map<String, Long> spans = new HashMap<>();
    private long messages;
    private long coveredMillis;

    /** The latest representative windows. */
    private Sample fair = Sample.NONE;

    private int silentTakes;

    /** Offset after the newest window. */
    private long to = JournalLog.NONE;

    // The queue's end when it was last known.
    private long end = JournalLog.NONE;
    private long endNanos;

    // Of this take.
    private Sample sample = Sample.NONE;

    /** Spans per second for each span of the sample. */
    private double scale;

    private double rate;
    private QueueLag lag = QueueLag.UNKNOWN;

    /** No window shows whether arriving messages are counted. */
    private boolean silent;

    void add(SealedWindow window) {
      coveredMillis += Math.max(1, window.sealedMillis() - window.openedMillis());
      if (window.to() < window.from()) {
        // The topic was created again; its offsets are unrelated to the previous ones.
        end = JournalLog.NONE;
      } else {
        messages += window.to() - window.from();
      }
      to = window.to();
      for (Books books : window.books()) {
        if (books.received() > 0) {
          String name = books.application();
          boolean room = spans.size() < MAX_APPLICATIONS || spans.containsKey(name);
          spans.merge(room ? name : "", books.received(), Long::sum);
        }
      }
    }

    /** Evaluates the windows since the last take, and starts again. */
    void settle(End asked) {
      long newEnd = asked.offset;
      long nowNanos = asked.nanos;
      boolean known =
          newEnd != JournalLog.NONE
              && end != JournalLog.NONE
              && newEnd >= end
              && nowNanos - endNanos > 0;
      silentTakes = coveredMillis > 0 ? 0 : silentTakes + 1;
      Sample now = new Sample(spans, messages);
      double taken =
          coveredMillis == 0
              ? 0
              : now.allSpans() * (double) TimeUnit.SECONDS.toMillis(1) / coveredMillis;
      if (known) {
        arrived(newEnd - end, (nowNanos - endNanos) / NANOS_PER_SECOND, now);
      } else if (coveredMillis > 0) {
        fair = now.messages > 0 ? now : fair;
        show(now, now.spans.isEmpty() ? 0 : taken / now.allSpans());
      } else if (silentTakes == SILENT_TAKES) {
        show(Sample.NONE, 0);
      }
      silent =
          silentTakes > 0 && silentTakes < SILENT_TAKES && !(known && newEnd == end) && rate > 0;
      lag = lag(newEnd, known ? newEnd - end : 0, taken);
      if (newEnd != JournalLog.NONE) {
        end = newEnd;
        endNanos = nowNanos;
      }
      spans = new HashMap<>();
      messages = 0;
      coveredMillis = 0;
    }

    private void arrived(long count, double seconds, Sample now) {
      if (now.messages > 0 && now.messages >= count / MOST_FACTOR) {
        fair = now;
      }
      if (fair.messages > 0) {
        show(fair, count / (seconds * fair.messages));
      } else {
        show(now, now.messages == 0 ? 0 : MOST_FACTOR / seconds);
      }
    }

    private void show(Sample shown, double perSecond) {
      sample = shown;
      scale = perSecond;
      rate = shown.allSpans() * perSecond;
    }

    /** Returns the assumed content of messages that wait. */
    Sample told() {
      return sample.messages > 0 ? sample : fair;
    }

    private QueueLag lag(long newEnd, long arrived, double taken) {
      if (newEnd == JournalLog.NONE || to == JournalLog.NONE) {
        return new QueueLag(-1, Double.NaN, taken, false);
      }
      long behind = Math.max(0, newEnd - to);
      boolean risen = arrived > 0 && lag.messages() >= 0 && behind > lag.messages();
      double spansBehind = behind == 0 ? 0 : behind * told().spansPerMessage();
      return new QueueLag(behind, spansBehind, taken, risen && behind > 2 * arrived);
    }
  }

  /**
   * The end of a queue.
   *
   * @param offset offset after its newest message
   * @param nanos time of the broker's answer
   */
  record End(long offset, long nanos) {
    private static final End UNKNOWN = new End(JournalLog.NONE, 0);
  }

  private final Map<QueueId, SampledSpans> tallies = new HashMap<>();

  /** Counts a window of any age: its times and offsets say what it covers. */
  synchronized void add(SealedWindow window) {
    tallies.computeIfAbsent(window.queue(), absent -> new SampledSpans()).add(window);
  }

  /**
   * Takes the loads since the last call.
   *
   * @param present all queues of the topic
   * @param ends ends of the queues; absent if unknown
   * @return null if a queue with a relevant load had windows before and has none now, although
   *     messages may arrive: its owner may be changing, and its load is not known
   */
  synchronized QueueLoads take(Collection<QueueId> present, Map<QueueId, End> ends) {
    tallies.keySet().retainAll(present);
    tallies.forEach((queue, tally) -> tally.settle(ends.getOrDefault(queue, End.UNKNOWN)));
    double all = tallies.values().stream().mapToDouble(tally -> tally.rate).sum();
    double matters = HotspotPolicy.LEAST_PART * all / present.size();
    boolean silent =
        tallies.values().stream().anyMatch(tally -> tally.silent && tally.rate > matters);
    if (silent) {
      return null;
    }
    List<QueueId> queues = List.copyOf(new TreeSet<>(present));
    Map<String, double[]> rates = new HashMap<>();
    Map<String, Double> waiting = new HashMap<>();
    List<QueueLag> lags = new ArrayList<>();
    for (int i = 0; i < queues.size(); i++) {
      SampledSpans tally = tallies.get(queues.get(i));
      if (tally != null) {
        addRates(tally, i, queues.size(), rates);
        addWaiting(tally, waiting);
      }
      lags.add(tally == null ? QueueLag.UNKNOWN : tally.lag);
    }
    return new QueueLoads(queues, rates, lags, waiting);
  }

  private static void addRates(
      SampledSpans tally, int queue, int queues, Map<String, double[]> rates) {
    tally.sample.spans.forEach((application, spans) ->
        rates.computeIfAbsent(application, absent -> new double[queues])[queue] =
            spans * tally.scale);
  }

  private static void addWaiting(SampledSpans tally, Map<String, Double> waiting) {
    Sample told = tally.told();
    if (tally.lag.messages() > 0 && told.messages > 0) {
      double times = (double) tally.lag.messages() / told.messages;
      told.spans.forEach(
          (application, spans) -> waiting.merge(application, spans * times, Double::sum));
    }
  }
}
