package org.traceetl.perf.simulate.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.traceetl.perf.simulate.check.HalfEdge;
import org.traceetl.proto.EdgeKey;

/**
 * The calls and messages between the applications of a run. The spans of one call may go to
 * different agents. Some calls are not answered, are answered minutes later or twice; some messages
 * have several receivers, some receivers links to several messages; some spans have no parent, or
 * one that no application sent. One thread.
 */
public final class Calls {
  /** Kinds of spans, as in OTLP. */
  private static final int SERVER = 2;

  private static final int CLIENT = 3;
  private static final int PRODUCER = 4;
  private static final int CONSUMER = 5;

  /** Calls and messages that wait at most; the oldest ones are then not answered. */
  private static final int MOST_WAITING = 500;

  private static final long MOST_DELAY_MILLIS = TimeUnit.SECONDS.toMillis(90);

  /** A span that may be a parent. */
  record Parent(long traceIdHigh, long traceIdLow, long spanId) {}

  /**
   * What a span says of the process at the other end.
   *
   * @param name of the other end; empty for none
   * @param database whether the attribute is that of a database
   * @param attribute that gives the name, in OTLP's protobuf; empty for none
   */
  record Peer(String name, boolean database, byte[] attribute) {
    private static Peer of(String key, String name) {
      return new Peer(
          name, key.startsWith("db."), Traffic.spanAttribute(key, name.getBytes(UTF_8)));
    }
  }

  private static final Peer NO_PEER = new Peer("", false, new byte[0]);

  /** Of calls. */
  private static final List<Peer> CALLED =
      List.of(
          Peer.of("db.namespace", "orders"),
          Peer.of("db.system", "redis"),
          Peer.of("server.address", "gateway"),
          Peer.of("peer.service", "billing"),
          NO_PEER,
          NO_PEER);

  /** Of messages. */
  private static final List<Peer> SENT_TO =
      List.of(Peer.of("messaging.destination.name", "orders"), NO_PEER);

  private static final class Waiting {
    final Parent caller;
    final long fromMillis;
    int answers;

    Waiting(Parent caller, long fromMillis, int answers) {
      this.caller = caller;
      this.fromMillis = fromMillis;
      this.answers = answers;
    }
  }

  private static final int MOST_LINKS = 3;

  private final RandomGenerator random;

  /** Null without links. */
  private final RandomGenerator linkRandom;

  private final boolean hasDimensions;
  private final Deque<Waiting> calls = new ArrayDeque<>();
  private final Deque<Waiting> messages = new ArrayDeque<>();

  /**
   * @param links draws the links of consumers; null if spans have none
   * @param hasDimensions whether edges have the {@link HalfEdge#DIMENSIONS}
   */
  public Calls(RandomGenerator random, RandomGenerator links, boolean hasDimensions) {
    this.random = random;
    linkRandom = links;
    this.hasDimensions = hasDimensions;
  }

  /** Returns the values of a span's dimensions. */
  String values(String region, String application) {
    return hasDimensions ? HalfEdge.values(region, application) : "";
  }

  /** Returns the spans that a span is linked to. With links, its parent has no other half-edge. */
  List<Parent> links(int kind, long unixMillis) {
    if (kind != CONSUMER || linkRandom == null || linkRandom.nextInt(3) > 0) {
      return List.of();
    }
    List<Parent> links = new ArrayList<>(MOST_LINKS);
    for (int left = 1 + linkRandom.nextInt(MOST_LINKS); left > 0; left--) {
      Parent linked =
          linkRandom.nextInt(10) == 0 ? unknown(linkRandom) : next(messages, unixMillis);
      // Agents leave out equal links.
      if (linked != null && !links.contains(linked)) {
        links.add(linked);
      }
    }
    return links;
  }

  private static Parent unknown(RandomGenerator random) {
    return new Parent(random.nextLong(), random.nextLong() | 1, random.nextLong() | 1);
  }

  /** Returns whether a span of a kind may have a parent of another process. */
  static boolean isCallee(int kind) {
    return kind == SERVER || kind == CONSUMER;
  }

  /** Returns whose callee a span of such a kind is; null if it has no parent. */
  Parent answered(int kind, long unixMillis) {
    return switch (random.nextInt(20)) {
      case 0, 1, 2 -> null;
      case 3 -> unknown(random);
      // Instrumentations also process messages in server spans, and send some from client spans.
      case 4 -> next(kind == SERVER ? messages : calls, unixMillis);
      default -> next(kind == SERVER ? calls : messages, unixMillis);
    };
  }

  private Parent next(Deque<Waiting> from, long unixMillis) {
    for (int left = from.size(); left > 0; left--) {
      Waiting first = from.removeFirst();
      if (first.fromMillis > unixMillis) {
        from.addLast(first);
        continue;
      }
      if (--first.answers > 0) {
        from.addFirst(first);
      }
      return first.caller;
    }
    return null;
  }

  /** Returns what a span of a kind says of its peer. */
  Peer peer(int kind) {
    return switch (kind) {
      case CLIENT -> CALLED.get(random.nextInt(CALLED.size()));
      case PRODUCER -> SENT_TO.get(random.nextInt(SENT_TO.size()));
      default -> NO_PEER;
    };
  }

  /** Adds a span that others may answer. */
  void made(int kind, Peer peer, Parent caller, long unixMillis) {
    if (kind == CLIENT && !peer.database && random.nextInt(4) > 0) {
      add(calls, caller, unixMillis, random.nextInt(50) == 0 ? 2 : 1);
    } else if (kind == PRODUCER && random.nextBoolean()) {
      add(messages, caller, unixMillis, Math.max(1, random.nextInt(6) - 2));
    }
  }

  private void add(Deque<Waiting> to, Parent caller, long unixMillis, int answers) {
    long delayMillis = random.nextInt(20) == 0 ? random.nextLong(MOST_DELAY_MILLIS) : 0;
    if (to.size() == MOST_WAITING) {
      to.removeFirst();
    }
    to.addLast(new Waiting(caller, unixMillis + delayMillis, answers));
  }

  /**
   * Returns the half-edge that a span must leave; null for none.
   *
   * @param parent of another process or of its own, or one that the span is linked to; null for
   *     none
   * @param values of the span's dimensions
   * @param endNanos its end, nanoseconds since 1970
   */
  static HalfEdge half(
      String application,
      int kind,
      Parent own,
      Parent parent,
      Peer peer,
      String values,
      boolean failed,
      long endNanos,
      long durationNanos) {
    int side =
        switch (kind) {
          case CLIENT -> HalfEdge.CLIENT;
          case SERVER -> HalfEdge.SERVER;
          case PRODUCER -> HalfEdge.PRODUCER;
          case CONSUMER -> HalfEdge.CONSUMER;
          default -> 0;
        };
    if (side == 0) {
      return null;
    }
    boolean isMessage = kind == PRODUCER || kind == CONSUMER;
    boolean isCaller = kind == CLIENT || kind == PRODUCER;
    Parent caller = isCaller ? own : parent;
    boolean waits = caller != null && !peer.database;
    long messageNanos = isCaller ? endNanos : endNanos - durationNanos;
    return new HalfEdge(
        application,
        side,
        isMessage ? HalfEdge.MESSAGE : peer.database ? HalfEdge.DATABASE : HalfEdge.CALL,
        peer.name,
        failed,
        waits,
        waits ? EdgeKey.key(caller.traceIdHigh, caller.traceIdLow, caller.spanId) : 0,
        waits ? EdgeKey.check(caller.traceIdHigh, caller.traceIdLow, caller.spanId) : 0,
        durationNanos,
        waits && isMessage ? TimeUnit.NANOSECONDS.toMicros(messageNanos) : 0,
        values);
  }
}
