package org.traceetl.perf.simulate.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.airlift.compress.v3.snappy.SnappyJavaDecompressor;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.traceetl.perf.simulate.check.Truth;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.perf.simulate.world.World;
import org.traceetl.server.features.push.Protocol;
import org.traceetl.server.features.push.PushType;
import org.traceetl.server.features.push.WriteTransport;

/**
 * A receiver of Remote Write 2.0 in memory, which all servers of a world share. Of a native
 * histogram it keeps count and sum, as samples of two series with {@value Truth#NATIVE} in their
 * names. As Prometheus does, it takes only samples newer than the series' newest one, or an equal
 * repeat of that one, and writes the rest of a request with others.
 */
public final class SimulatedReceiver {
  private static final long FASTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long REFUSED_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long STALE = 0x7ff0_0000_0000_0002L;

  /**
   * After so long an answer is 503, and the next one is lost. Time counts, not requests: else a
   * receiver of many small requests would nearly always be away. It exceeds the longest pauses
   * before, between and after these two requests, 30 s each.
   */
  private static final long TROUBLE_NANOS = TimeUnit.MINUTES.toNanos(2);

  private record Sample(long atMillis, double value) {}

  /** Receives the increases of series. */
  @FunctionalInterface
  public interface Observer {
    /**
     * A series has increased, or begun.
     *
     * @param series its name and labels
     */
    void increased(String series, long atMillis, double by);
  }

  private record Named(String series, Sample sample) {}

  private final World world;
  private final Predicate<String> mayEnd;
  private final SortedMap<String, Sample> newest = new TreeMap<>();

  /** By series that may end: the sum of its last values before its ends. */
  private final SortedMap<String, Double> ended = new TreeMap<>();

  private final List<String> faults = new ArrayList<>();
  private final Observer observer;
  private boolean away;
  private long nextTroubleNanos;
  private boolean losesAnswer;
  private long requests;
  private long samples;
  private long repeated;
  private long refused;

  /**
   * @param mayEnd whether rules may end a series, by application
   */
  public SimulatedReceiver(World world, Predicate<String> mayEnd, Observer observer) {
    this.world = world;
    this.mayEnd = mayEnd;
    this.observer = observer;
  }

  /** Returns an opener of this receiver for the servers of a process. */
  PushType.Opener opener(Process process) {
    return (endpoint, clocks) -> new Client(process);
  }

  /** Lets the receiver be unreachable. */
  public void away(boolean isAway) {
    away = isAway;
  }

  /**
   * Returns the newest samples of series that have not ended, and the last ones of those that rules
   * may have ended, as a page.
   */
  public String page() {
    StringBuilder page = new StringBuilder();
    newest.forEach((series, sample) -> {
      if (Double.doubleToRawLongBits(sample.value()) != STALE) {
        page.append(series).append(' ').append(sample.value()).append('\n');
      }
    });
    ended.forEach((series, value) -> page.append(series).append(' ').append(value).append('\n'));
    return page.toString();
  }

  /** Returns descriptions of wrong samples. */
  public List<String> faults() {
    return faults;
  }

  @Override
  public String toString() {
    return requests
        + " requests, "
        + samples
        + " samples written, "
        + repeated
        + " repeated, "
        + refused
        + " refused, "
        + newest.size()
        + " series";
  }

  private final class Client implements WriteTransport {
    private final Process process;

    Client(Process process) {
      this.process = process;
    }

    @Override
    public Answer send(Protocol protocol, byte[] body, int length) throws IOException {
      process.enter("receiver.write");
      byte[] copy = new byte[length];
      System.arraycopy(body, 0, copy, 0, length);
      if (away) {
        sleep(REFUSED_NANOS);
        throw new IOException("the connection to the simulated receiver was refused");
      }
      sleep(FASTEST_NANOS);
      requests++;
      if (world.nanos() >= nextTroubleNanos) {
        nextTroubleNanos = world.nanos() + TROUBLE_NANOS;
        losesAnswer = true;
        return new Answer(503, UNKNOWN, UNKNOWN, 0, "");
      }
      Answer answer = write(copy);
      if (losesAnswer) {
        losesAnswer = false;
        sleep(TIMEOUT_NANOS);
        throw new IOException("the simulated receiver did not answer in time");
      }
      return answer;
    }

    private void sleep(long nanos) throws InterruptedIOException {
      try {
        world.sleep(nanos);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted in a call of the simulated receiver");
      }
    }

    @Override
    public void close() {
      // The receiver stays.
    }
  }

  private WriteTransport.Answer write(byte[] body) {
    var snappy = new SnappyJavaDecompressor();
    byte[] message = new byte[snappy.getUncompressedLength(body, 0)];
    int size = snappy.decompress(body, 0, body.length, message, 0, message.length);
    List<String> symbols = new ArrayList<>();
    List<ByteBuffer> series = new ArrayList<>();
    Fields request = new Fields(ByteBuffer.wrap(message, 0, size));
    while (request.next()) {
      if (request.number == 4) {
        byte[] text = new byte[request.bytes.remaining()];
        request.bytes.get(text);
        symbols.add(new String(text, UTF_8));
      } else if (request.number == 5) {
        series.add(request.bytes);
      }
    }
    int written = 0;
    boolean isRefused = false;
    for (ByteBuffer one : series) {
      for (Named sample : read(one, symbols)) {
        boolean taken = take(sample.series(), sample.sample());
        written += taken ? 1 : 0;
        isRefused |= !taken;
      }
    }
    return new WriteTransport.Answer(isRefused ? 400 : 204, written, 0, 0, "");
  }

  private boolean take(String series, Sample sample) {
    Sample before = newest.get(series);
    if (before == null || sample.atMillis() > before.atMillis()) {
      boolean isStale = Double.doubleToRawLongBits(sample.value()) == STALE;
      if (before != null && !isStale && sample.value() < before.value()) {
        faults.add(series + " decreased from " + before + " to " + sample);
      }
      if (isStale && before != null && mayEnd.test(ScrapedSeries.application(series))) {
        // A series that has ended already has no further end.
        ended.merge(series, Double.isNaN(before.value()) ? 0 : before.value(), Double::sum);
      }
      if (!isStale) {
        boolean begins = before == null || Double.isNaN(before.value());
        observer.increased(
            series, sample.atMillis(), begins ? sample.value() : sample.value() - before.value());
      }
      newest.put(series, sample);
      samples++;
      return true;
    }
    if (sample.atMillis() == before.atMillis()) {
      boolean isEqual =
          Double.doubleToRawLongBits(sample.value()) == Double.doubleToRawLongBits(before.value());
      if (!isEqual) {
        faults.add(series + " has " + before + " and then " + sample);
      }
      repeated++;
      return isEqual;
    }
    refused++;
    return false;
  }

  private static List<Named> read(ByteBuffer series, List<String> symbols) {
    SortedMap<String, String> labels = new TreeMap<>();
    List<Sample> samples = new ArrayList<>();
    List<Sample> counts = new ArrayList<>();
    List<Sample> sums = new ArrayList<>();
    Fields fields = new Fields(series);
    while (fields.next()) {
      if (fields.number == 1) {
        while (fields.bytes.hasRemaining()) {
          String label = symbols.get((int) varint(fields.bytes));
          labels.put(label, symbols.get((int) varint(fields.bytes)));
        }
      } else if (fields.number == 2) {
        samples.add(sample(fields.bytes));
      } else if (fields.number == 3) {
        histogram(fields.bytes, counts, sums);
      }
    }
    String name = labels.remove("__name__");
    StringBuilder text = new StringBuilder("{");
    labels.forEach((label, value) ->
        text.append(label).append("=\"").append(value.replace("\"", "\\\"")).append("\","));
    text.setLength(text.length() - 1);
    text.append('}');
    List<Named> named = new ArrayList<>();
    samples.forEach(sample -> named.add(new Named(name + text, sample)));
    counts.forEach(sample -> named.add(new Named(name + Truth.NATIVE + "_count" + text, sample)));
    sums.forEach(sample -> named.add(new Named(name + Truth.NATIVE + "_sum" + text, sample)));
    return named;
  }

  private static void histogram(ByteBuffer histogram, List<Sample> counts, List<Sample> sums) {
    Fields fields = new Fields(histogram);
    long count = 0;
    double sum = 0;
    long atMillis = 0;
    while (fields.next()) {
      switch (fields.number) {
        case 1 -> count = fields.value;
        case 3 -> sum = Double.longBitsToDouble(fields.value);
        case 15 -> atMillis = fields.value;
        default -> {
          // Buckets are compared where they are encoded.
        }
      }
    }
    boolean isStale = Double.doubleToRawLongBits(sum) == STALE;
    counts.add(new Sample(atMillis, isStale ? sum : count));
    sums.add(new Sample(atMillis, sum));
  }

  private static Sample sample(ByteBuffer sample) {
    Fields fields = new Fields(sample);
    double value = 0;
    long atMillis = 0;
    while (fields.next()) {
      if (fields.number == 1) {
        value = Double.longBitsToDouble(fields.value);
      } else if (fields.number == 2) {
        atMillis = fields.value;
      }
    }
    return new Sample(atMillis, value);
  }

  private static long varint(ByteBuffer in) {
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      byte next = in.get();
      value |= (long) (next & 0x7F) << shift;
      if (next >= 0) {
        return value;
      }
    }
  }

  /** Reads the fields of a message of Protocol Buffers. */
  private static final class Fields {
    private final ByteBuffer in;
    private int number;

    /** Of a number. */
    private long value;

    /** Of a text or message. */
    private ByteBuffer bytes;

    Fields(ByteBuffer in) {
      this.in = in.order(ByteOrder.LITTLE_ENDIAN);
    }

    boolean next() {
      if (!in.hasRemaining()) {
        return false;
      }
      int tag = (int) varint(in);
      number = tag >>> 3;
      switch (tag & 7) {
        case 0 -> value = varint(in);
        case 1 -> value = in.getLong();
        case 2 -> {
          int length = (int) varint(in);
          bytes = in.slice(in.position(), length);
          in.position(in.position() + length);
        }
        default -> throw new IllegalStateException("type of field " + tag);
      }
      return true;
    }
  }
}
