package org.traceetl.agent.detail;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.proto.Demand;
import org.traceetl.proto.XxHash64;

/** What servers demand of the spans of an application. Immutable. */
public final class DemandedDetail {
  private static final int STATUS_ERROR = 2;
  private static final double THRESHOLDS = 0x1p56;

  private final long version;
  private final DemandedKeys keys;
  private final Demand.Wanted wanted;
  private final long exemplarIntervalNanos;
  private final long sampleThreshold;

  /**
   * @param keys those of {@code wanted}, which other applications may share
   * @param sampleRatio 0 to 1
   */
  DemandedDetail(long version, DemandedKeys keys, Demand.Wanted wanted, double sampleRatio) {
    this.version = version;
    this.keys = keys;
    this.wanted = wanted;
    exemplarIntervalNanos = TimeUnit.MILLISECONDS.toNanos(wanted.exemplarIntervalMillis());
    sampleThreshold = Math.round((1 - sampleRatio) * THRESHOLDS);
  }

  /** Returns whether a span is always sent whole, because it is slow or failed. */
  public boolean isWhole(SpanView span) {
    return span.status == STATUS_ERROR || span.durationNanos >= wanted.slowNanos(span.kind);
  }

  /** Returns whether attributes of other spans with this key are sent. */
  public boolean demands(byte[] key, int offset, int length) {
    return keys.contains(key, offset, length);
  }

  /** Returns the demanded keys of span attributes. */
  public List<byte[]> keys() {
    return keys.bytes();
  }

  /** Returns the demanded keys of span attributes; one set per list of keys. */
  public KeySet keySet() {
    return keys.set();
  }

  /** Returns the version of the demand. */
  public long version() {
    return version;
  }

  /** Returns the time after which a series needs another exemplar. */
  public long exemplarIntervalNanos() {
    return exemplarIntervalNanos;
  }

  /**
   * Returns the threshold T of the sample: spans of traces whose randomness is at least T are
   * members. 2^56 for no sample.
   */
  public long sampleThreshold() {
    return sampleThreshold;
  }

  /**
   * Returns the hash of a series with its demanded attributes.
   *
   * @param series hash of application, name, kind and status
   * @param onlyDemanded whether all attributes are demanded
   */
  public long hash(long series, Attributes attributes, boolean onlyDemanded) {
    long hash = series;
    for (int i = 0; i < attributes.size(); i++) {
      byte[] key = attributes.key(i);
      int keyOffset = attributes.keyOffset(i);
      int keyLength = attributes.keyLength(i);
      if (onlyDemanded || demands(key, keyOffset, keyLength)) {
        hash = XxHash64.hash(key, keyOffset, keyLength, hash);
        hash =
            XxHash64.hash(
                attributes.value(i), attributes.valueOffset(i), attributes.valueLength(i), hash);
      }
    }
    return hash;
  }
}
