package org.traceetl.server.window;

import java.util.List;

/**
 * The difference between the open half-edges of a queue at the ends of two consecutive windows. It
 * has columns: half i is the one that opened with number {@code opened[i]}, in the order of
 * arrival. Immutable by contract, like {@link SealedWindow}.
 *
 * <p>Apply in this order: {@code streamMillis}, {@code left}, {@code paired}, opened halves.
 *
 * @param streamMillis time of the queue at the end of the later window, milliseconds since 1970:
 *     the store time of its first message, and the steps between store times since then, each at
 *     most 15 s
 * @param left numbers of the halves that are not open any more
 * @param paired numbers of callers that had no partner in the earlier window, and have had one in
 *     the later; they are open in both
 * @param opened numbers of the halves that were not open before, by half
 * @param heads what the halves share
 * @param dimensions keys of the values of heads; none without heads
 * @param headOf index in {@code heads}, by half
 * @param keys hash of trace ID and caller's span ID, by half
 * @param checks 16 further bits of an independent hash, by half
 * @param sides 1 client, 2 server, 3 producer, 4 consumer, by half
 * @param durationsNanos by half, at least 0
 * @param committedMillis when the agent accepted the span, by half, milliseconds since 1970
 * @param messageMicros when the message was sent or received, by half, microseconds since 1970, at
 *     least 0; 0 if unknown, and of calls
 * @param arrivalMillis stream time of the arrival, by half, milliseconds since 1970; ascending
 * @param hadPartner whether it is a caller that was paired and stays open, by half
 */
public record EdgeChange(
    long streamMillis,
    int[] left,
    int[] paired,
    int[] opened,
    List<EdgeHead> heads,
    List<String> dimensions,
    int[] headOf,
    long[] keys,
    int[] checks,
    byte[] sides,
    long[] durationsNanos,
    long[] committedMillis,
    long[] messageMicros,
    long[] arrivalMillis,
    boolean[] hadPartner) {
  /** Of a queue without half-edges. */
  public static final EdgeChange NONE =
      new EdgeChange(
          0,
          new int[0],
          new int[0],
          new int[0],
          List.of(),
          List.of(),
          new int[0],
          new long[0],
          new int[0],
          new byte[0],
          new long[0],
          new long[0],
          new long[0],
          new long[0],
          new boolean[0]);

  /** Returns whether there was never a message with half-edges. */
  public boolean isNone() {
    return streamMillis == 0;
  }
}
