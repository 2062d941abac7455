package org.traceetl.agent.edge;

import java.util.List;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.SpanLinks;
import org.traceetl.agent.flow.SpanView;

/**
 * Decides by kind, parent and attributes which half-edge a span leaves:
 *
 * <table>
 *   <caption>Half-edges</caption>
 *   <tr><th>span</th><th>half</th></tr>
 *   <tr><td>CLIENT with an attribute of a database</td><td>immediate</td></tr>
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
 */
public final class EdgeRules {
  // Numbers of the kinds in OTLP.
  private static final int KIND_SERVER = 2;
  private static final int KIND_CLIENT = 3;
  private static final int KIND_PRODUCER = 4;
  private static final int KIND_CONSUMER = 5;

  private static final KeySet READ = new KeySet(PeerKeys.ALL);

  private EdgeRules() {}

  /**
   * Classifies a span, whose trace ID and span ID are not 0. Of a consumer with links, the half is
   * that of the first one.
   *
   * @param attributes those that may name its peer, as {@link SpanView#additional} does
   * @param half receives the half-edge; unchanged if the span leaves none
   * @return whether the span leaves a half-edge
   */
  public static boolean classify(SpanView span, Attributes attributes, HalfEdge half) {
    switch (span.kind) {
      case KIND_CLIENT -> client(span, attributes, half);
      case KIND_PRODUCER -> producer(span, attributes, half);
      case KIND_SERVER -> server(span, HalfEdge.SERVER, HalfEdge.PLAIN, half);
      case KIND_CONSUMER -> consumer(span, half);
      default -> {
        return false;
      }
    }
    return true;
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

  /** Returns the keys of all attributes that the rules read, as UTF-8. */
  public static List<byte[]> readKeys() {
    return PeerKeys.ALL;
  }

  /**
   * Returns the keys of attributes that the rules read of spans of a kind; null for none.
   *
   * @param kind 0 if it is not known yet
   */
  public static KeySet additionalKeys(int kind) {
    return kind == 0 || kind == KIND_CLIENT || kind == KIND_PRODUCER ? READ : null;
  }

  private static void client(SpanView span, Attributes attributes, HalfEdge half) {
    if (PeerAttributes.read(attributes, span.additional, half)) {
      half.set(HalfEdge.CLIENT, HalfEdge.DATABASE);
      half.setImmediate();
    } else {
      half.set(HalfEdge.CLIENT, HalfEdge.PLAIN);
      half.setWaiting(span.traceIdHigh, span.traceIdLow, span.spanId);
    }
  }

  private static void producer(SpanView span, Attributes attributes, HalfEdge half) {
    PeerAttributes.read(attributes, span.additional, half);
    half.set(HalfEdge.PRODUCER, HalfEdge.MESSAGING_SYSTEM);
    half.setWaiting(span.traceIdHigh, span.traceIdLow, span.spanId);
    half.setMessage(span.startUnixNanos + span.durationNanos);
  }

  private static void consumer(SpanView span, HalfEdge half) {
    server(span, HalfEdge.CONSUMER, HalfEdge.MESSAGING_SYSTEM, half);
    if (span.links.size() > 0) {
      turnToLink(span, 0, half);
    } else if (half.waiting) {
      half.setMessage(span.startUnixNanos);
    }
  }

  private static void server(SpanView span, int side, int connectionType, HalfEdge half) {
    half.forgetPeer();
    half.set(side, connectionType);
    if (span.parentSpanId == 0) {
      half.setImmediate();
    } else {
      half.setWaiting(span.traceIdHigh, span.traceIdLow, span.parentSpanId);
    }
  }
}
