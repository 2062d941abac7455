package org.traceetl.server.journal.format;

import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.NativeTotals;

/**
 * The format of a row's native histogram:
 *
 * <pre>
 *   unsigned  buckets n, n times, rising:
 *     unsigned  number - number of the one before - 1
 *     unsigned  spans
 * </pre>
 */
public final class NativeFormat {
  private static final int MIN_BYTES = 2;

  private NativeFormat() {}

  static void write(NativeCounts natives, int row, RecordWriter out) {
    out.unsigned(natives.end(row) - natives.begin(row));
    int before = -1;
    for (int i = natives.begin(row); i < natives.end(row); i++) {
      before = write(before, natives.buckets()[i], natives.counts()[i], out);
    }
  }

  static void write(NativeTotals natives, int row, RecordWriter out) {
    out.unsigned(natives.size(row));
    int before = -1;
    for (int i = 0; i < natives.size(row); i++) {
      before = write(before, natives.bucket(row, i), natives.count(row, i), out);
    }
  }

  private static int write(int before, int bucket, long spans, RecordWriter out) {
    out.unsigned(bucket - before - 1L);
    out.unsigned(spans);
    return bucket;
  }

  static void read(RecordReader in, NativeCounts.Builder natives) throws MalformedRecordException {
    int size = in.count(MIN_BYTES, "native buckets");
    int bucket = -1;
    for (int i = 0; i < size; i++) {
      bucket = next(in, bucket);
      natives.add(bucket, in.amount("spans of a native bucket"));
    }
    natives.endRow();
  }

  static void read(RecordReader in, NativeTotals natives, int row) throws MalformedRecordException {
    int size = in.count(MIN_BYTES, "native buckets");
    char[] buckets = new char[size];
    long[] counts = new long[size];
    int bucket = -1;
    for (int i = 0; i < size; i++) {
      bucket = next(in, bucket);
      buckets[i] = (char) bucket;
      counts[i] = in.amount("spans of a native bucket");
    }
    natives.set(row, buckets, counts);
  }

  private static int next(RecordReader in, int before) throws MalformedRecordException {
    return before
        + 1
        + (int) in.upTo(NativeBuckets.MAX_COUNT - 2L - before, "step of native buckets");
  }
}
