package org.traceetl.agent.edge;

import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanLinks;
import org.traceetl.agent.flow.SpanView;

/**
 * Decides by kind, parent and attributes which half-edge a span leaves:
 *
 * <table>
 *   <caption>Half-edges</caption>
 *   <tr><th>span</th><th>half</th></tr>
 *   <tr><td>CLIENT, and CONSUMER without parent and links, that receives or settles messages
 *   </td><td>none</td></tr>
 *   <tr><td>other CLIENT with an attribute of a database</td><td>immediate</td></tr>
 *   <tr><td>other CLIENT, PRODUCER</td><td>waits, with its own span ID</td></tr>
 *   <tr><td>CONSUMER with links</td><td>one for each link: waits, with the link's IDs</td></tr>
 *   <tr><td>other CONSUMER, SERVER, with a parent</td><td>waits, with the parent's span ID</td></tr>
 *   <tr><td>other CONSUMER, SERVER, without a parent</td><td>immediate</td></tr>
 *   <tr><td>other</td><td>none</td></tr>
 * </table>
 *
 * <p>The attributes of a database are {@code db.namespace}, {@code db.name}, {@code db.system.name}
 * and {@code db.system}. {@link PeerAttributes} defines the peer's name. Consumers are linked to
 * the producers of their messages, and then their parent is usually a span of their own
 * application.
 *
 * <p>A span receives or settles messages if {@code messaging.operation.type}, formerly {@code
 * messaging.operation}, is {@code receive} or {@code settle}. Without links it is then a request to
 * the broker, for messages of several senders, or of none. A CONSUMER with a parent waits all the
 * same, because its parent may be the sender's span.
 */
public final class EdgeRules {
  // Numbers of the kinds in OTLP.
  static final int KIND_SERVER = 2;
  static final int KIND_CLIENT = 3;
  static final int KIND_PRODUCER = 4;
  static final int KIND_CONSUMER = 5;

  private EdgeRules() {}

  /**
   * Classifies a span, whose trace ID and span ID are not 0. Of a consumer with links, the half is
   * that of the first one.
   *
   * @param attributes those that the rules read, in addition to {@link SpanView#additional}
   * @param half receives the half-edge; without one, it has no peer and is else unspecified
   * @return whether the span leaves a half-edge
   */
  public static boolean classify(SpanView span, Attributes attributes, HalfEdge half) {
    return switch (span.kind) {
      case KIND_CLIENT -> client(span, attributes, half);
      case KIND_PRODUCER -> producer(span, attributes, half);
      case KIND_SERVER -> server(span, HalfEdge.SERVER, HalfEdge.PLAIN, half);
      case KIND_CONSUMER -> consumer(span, attributes, half);
      default -> false;
    };
  }

  /** Returns the number of halves of a span that leaves one. */
  public static int halves(SpanView span) {
    return Math.max(1, span.links.size());
  }

  /**
   * Makes the half of a consumer's first link that of another link.
   *
   * @param link from 1 to {@link #halves} - 1
   */
  public static void turnToLink(SpanView span, int link, HalfEdge half) {
    SpanLinks links = span.links;
    half.setWaiting(links.traceIdHigh(link), links.traceIdLow(link), links.spanId(link));
    half.setMessage(span.startUnixNanos);
  }

  private static boolean client(SpanView span, Attributes attributes, HalfEdge half) {
    int found = PeerAttributes.read(attributes, span.additional, half);
    if ((found & PeerAttributes.RECEIVES) != 0) {
      half.forgetPeer();
      return false;
    }
    if ((found & PeerAttributes.DATABASE) != 0) {
      half.set(HalfEdge.CLIENT, HalfEdge.DATABASE);
      half.setImmediate();
    } else {
      half.set(HalfEdge.CLIENT, HalfEdge.PLAIN);
      half.setWaiting(span.traceIdHigh, span.traceIdLow, span.spanId);
    }
    return true;
  }

  private static boolean producer(SpanView span, Attributes attributes, HalfEdge half) {
    PeerAttributes.read(attributes, span.additional, half);
    half.set(HalfEdge.PRODUCER, HalfEdge.MESSAGING_SYSTEM);
    half.setWaiting(span.traceIdHigh, span.traceIdLow, span.spanId);
    half.setMessage(span.startUnixNanos + span.durationNanos);
    return true;
  }

  private static boolean consumer(SpanView span, Attributes attributes, HalfEdge half) {
    if (span.links.size() > 0) {
      half.forgetPeer();
      half.set(HalfEdge.CONSUMER, HalfEdge.MESSAGING_SYSTEM);
      turnToLink(span, 0, half);
      return true;
    }
    if (span.parentSpanId == 0
        && (PeerAttributes.read(attributes, span.additional, half) & PeerAttributes.RECEIVES)
            != 0) {
      half.forgetPeer();
      return false;
    }
    server(span, HalfEdge.CONSUMER, HalfEdge.MESSAGING_SYSTEM, half);
    if (half.waiting) {
      half.setMessage(span.startUnixNanos);
    }
    return true;
  }

  private static boolean server(SpanView span, int side, int connectionType, HalfEdge half) {
    half.forgetPeer();
    half.set(side, connectionType);
    if (span.parentSpanId == 0) {
      half.setImmediate();
    } else {
      half.setWaiting(span.traceIdHigh, span.traceIdLow, span.parentSpanId);
    }
    return true;
  }
}
