package org.traceetl.server.journal.format;

import org.traceetl.proto.Limits;
import org.traceetl.server.edge.Half;
import org.traceetl.server.edge.HalfTable;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.EdgeHead;
import org.traceetl.server.window.SealedWindow;

/** The part of {@link WindowInvariants} for half-edges. */
final class EdgeInvariants {
  private EdgeInvariants() {}

  /** Returns what a window must not have; null if its half-edges are consistent. */
  static String violated(SealedWindow window) {
    EdgeChange change = window.edges();
    int halves = change.opened().length;
    if (change.isNone()) {
      return halves == 0 && change.left().length == 0 && change.paired().length == 0
          ? null
          : "half-edges without a time";
    }
    if (window.panes().isEmpty()) {
      return "half-edges, but no panes";
    }
    if (change.streamMillis() < 0) {
      return "half-edges at " + change.streamMillis();
    }
    if (!inShape(change, halves)) {
      return "arrays that do not fit its half-edges";
    }
    String violated = ofNumbers(change.left());
    violated = violated == null ? ofNumbers(change.paired()) : violated;
    violated = violated == null ? ofNumbers(change.opened()) : violated;
    violated = violated == null ? ofHeads(change) : violated;
    return violated == null ? ofHalves(change) : violated;
  }

  private static boolean inShape(EdgeChange change, int halves) {
    return change.headOf().length == halves
        && change.keys().length == halves
        && change.checks().length == halves
        && change.sides().length == halves
        && change.durationsNanos().length == halves
        && change.committedMillis().length == halves
        && change.messageMicros().length == halves
        && change.arrivalMillis().length == halves
        && change.hadPartner().length == halves;
  }

  private static String ofNumbers(int[] numbers) {
    for (int number : numbers) {
      if (number < 0 || number >= HalfTable.MAX_CAPACITY) {
        return "a half-edge " + number;
      }
    }
    return null;
  }

  private static String ofHeads(EdgeChange change) {
    int dimensions = change.dimensions().size();
    if (dimensions > EdgeChangeFormat.MAX_DIMENSIONS) {
      return "half-edges of " + dimensions + " dimensions";
    }
    for (EdgeHead head : change.heads()) {
      if (head.values().size() != dimensions) {
        return "half-edges with " + head.values().size() + " values of " + dimensions;
      }
      if (head.connectionType() < 0
          || head.connectionType() > EdgeChangeFormat.MAX_CONNECTION_TYPE
          || head.samplingThreshold() < 0
          || head.samplingThreshold() > EdgeChangeFormat.MAX_THRESHOLD) {
        return "half-edges of connection type "
            + head.connectionType()
            + " and threshold "
            + head.samplingThreshold();
      }
    }
    return null;
  }

  private static String ofHalves(EdgeChange change) {
    long arrivedMillis = 0;
    for (int half = 0; half < change.opened().length; half++) {
      int side = change.sides()[half];
      int check = change.checks()[half];
      int head = change.headOf()[half];
      if (side < Half.CLIENT
          || side > Half.CONSUMER
          || check < 0
          || check > EdgeChangeFormat.MAX_CHECK
          || head < 0
          || head >= change.heads().size()
          || change.durationsNanos()[half] < 0
          || change.messageMicros()[half] < 0
          || change.messageMicros()[half]
              > (side < Half.PRODUCER ? 0 : Limits.MAX_MESSAGE_MICROS)) {
        return "a half-edge of side "
            + side
            + ", check "
            + check
            + ", head "
            + head
            + " and "
            + change.durationsNanos()[half]
            + " ns, with a message at "
            + change.messageMicros()[half]
            + " us";
      }
      long arrival = change.arrivalMillis()[half];
      if (arrival < arrivedMillis || arrival > change.streamMillis()) {
        return "a half-edge that arrives at " + arrival;
      }
      arrivedMillis = arrival;
    }
    return null;
  }
}
