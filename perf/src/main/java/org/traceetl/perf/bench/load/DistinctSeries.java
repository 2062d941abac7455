package org.traceetl.perf.bench.load;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.traceetl.proto.SpanBatchWriter;

/**
 * Generates batches in which each of many series has one span. The operation and two of the twelve
 * attributes ({@link SpanStream#DIMENSIONS}) distinguish series: {@value #SERIES_OF_OPERATION} for
 * each operation. Equal arguments give equal batches.
 */
public final class DistinctSeries {
  /** Series of an operation, one for each outcome. */
  public static final int SERIES_OF_OPERATION = 8;

  private static final String[] METHODS = {"GET", "POST"};
  private static final String[] STATUS_CODES = {"200", "204", "404", "500"};

  private final int applications;
  private final int series;
  private final int spans;
  private final SplittableRandom random = new SplittableRandom(1);
  private final SpanBatchWriter writer = new SpanBatchWriter();
  private long sequence = RenamedBatch.FIRST_SEQUENCE;

  /**
   * @param applications that have the series, in equal parts
   * @param series of all applications
   * @param spans maximum spans in a batch
   */
  public DistinctSeries(int applications, int series, int spans) {
    this.applications = applications;
    this.series = series;
    this.spans = spans;
  }

  /** Returns the batches, shuffled. */
  public List<byte[]> batches() {
    List<byte[]> batches = new ArrayList<>();
    for (int application = 0; application < applications; application++) {
      int[] own = own(application);
      for (int from = 0; from < own.length; from += spans) {
        batches.add(batch(application, own, from, Math.min(from + spans, own.length)));
      }
    }
    Collections.shuffle(batches, new Random(1));
    return batches;
  }

  private int[] own(int application) {
    int first = (int) ((long) series * application / applications);
    int[] own = new int[(int) ((long) series * (application + 1) / applications) - first];
    for (int i = 0; i < own.length; i++) {
      int at = random.nextInt(i + 1);
      own[i] = own[at];
      own[at] = i;
    }
    return own;
  }

  private byte[] batch(int application, int[] own, int from, int to) {
    writer.begin();
    writer.application(intern("application-" + application));
    int method = intern("http.request.method");
    int status = intern("http.response.status_code");
    for (int i = from; i < to; i++) {
      int outcome = own[i] % SERIES_OF_OPERATION;
      String operation =
          "/api/v1/app" + application + "/resource" + own[i] / SERIES_OF_OPERATION + "/{id}";
      writer.startSpan(
          random.nextLong(),
          random.nextLong(),
          random.nextLong(),
          0,
          intern("GET " + operation),
          2,
          0,
          1_790_000_000_000_000_000L + i,
          random.nextLong(50_000_000),
          0);
      writer.attribute(method, intern(METHODS[outcome / STATUS_CODES.length]));
      writer.attribute(status, intern(STATUS_CODES[outcome % STATUS_CODES.length]));
      for (int k = 2; k < SpanStream.ATTRIBUTES; k++) {
        writer.attribute(intern("some.attribute." + k), intern("value " + random.nextInt(20)));
      }
      writer.endSpan();
    }
    int length = writer.finish(7, application, 1, sequence++);
    return Arrays.copyOf(writer.buffer(), length);
  }

  private int intern(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }
}
