package org.traceetl.agent.source.otlp;

import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.util.AttributeKey;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.traceetl.agent.config.OtlpLimits;
import org.traceetl.agent.source.otlp.OtlpCounters.ConnectionRefusal;

/**
 * The senders by address, with what each of them has of the receiver: one that has its share waits,
 * so that the others need not. Safe for any thread.
 *
 * <p>One is known while it has a connection or bytes in flight, so there are no more of them than
 * there may be connections and payloads in the pipeline.
 */
final class Clients {
  static final String FULL = "this sender is at its bound of bytes in flight";

  /** A request may come with a few bytes of framing, and counts for its head. */
  private static final int FRAMING_BYTES = 8 * 1_024;

  /**
   * What the pieces of a request may count for beyond its bytes: one of {@link ReadBudget#charge 1
   * KiB} at the end of each 8 KiB.
   */
  private static final int PIECES_SHARE = 8;

  private static final AttributeKey<Client> CLIENT = AttributeKey.valueOf(Clients.class, "client");

  private final OtlpLimits limits;
  private final long maxClientBytes;
  private final OtlpCounters counters;
  private final AtomicInteger connections = new AtomicInteger();
  private final ConcurrentHashMap<InetAddress, Client> byAddress = new ConcurrentHashMap<>();

  /**
   * @param maxBytes bytes in flight of all senders
   * @param maxRequestBytes of which one at least is always let in
   */
  Clients(OtlpLimits limits, long maxBytes, int maxRequestBytes, OtlpCounters counters) {
    this.limits = limits;
    this.counters = counters;
    long share =
        limits.maxClientBytesInFlight() == 0 ? maxBytes / 2 : limits.maxClientBytesInFlight();
    // The largest request counts for more than its bytes where its pieces end with short ones.
    long largest = maxRequestBytes + maxRequestBytes / PIECES_SHARE;
    this.maxClientBytes = Math.max(share, largest) + FRAMING_BYTES;
  }

  /** False if the connection is one too many: then it is counted, and to be closed. */
  boolean connect(Channel connection) {
    if (connections.incrementAndGet() > limits.maxConnections()) {
      connections.decrementAndGet();
      counters.connectionRefused(ConnectionRefusal.ALL);
      return false;
    }
    AtomicBoolean full = new AtomicBoolean();
    Client client =
        byAddress.compute(
            addressOf(connection.remoteAddress()),
            (address, known) -> {
              Client its = known == null ? new Client(address) : known;
              // Here, where no other connection is counted: two at once must not be in each
              // other's way.
              if (its.connections < limits.maxClientConnections()) {
                its.connections++;
              } else {
                full.set(true);
              }
              return its;
            });
    if (full.get()) {
      connections.decrementAndGet();
      counters.connectionRefused(ConnectionRefusal.CLIENT);
      return false;
    }
    connection.attr(CLIENT).set(client);
    connection.closeFuture().addListener(closed -> disconnect(client));
    return true;
  }

  /** Whose connection it is. */
  static Client of(Channel connection) {
    return connection.attr(CLIENT).get();
  }

  /** The sender of an address. */
  Client of(SocketAddress address) {
    Client known = byAddress.get(addressOf(address));
    // It is unknown only when its last connection has just been closed.
    return known == null ? new Client(addressOf(address)) : known;
  }

  /** How many are known. */
  int size() {
    return byAddress.size();
  }

  private void disconnect(Client client) {
    connections.decrementAndGet();
    byAddress.computeIfPresent(
        client.address,
        (address, known) -> {
          known.connections--;
          return known.isIdle() ? null : known;
        });
  }

  private static InetAddress addressOf(SocketAddress address) {
    return address instanceof InetSocketAddress internet && internet.getAddress() != null
        ? internet.getAddress()
        : InetAddress.getLoopbackAddress();
  }

  /** One sender. */
  final class Client {
    private final InetAddress address;
    private final AtomicLong bytes = new AtomicLong();
    // Written while the table holds its entry.
    private volatile int connections;

    private Client(InetAddress address) {
      this.address = address;
    }

    /** False when that would be more than its share; none are taken then. */
    boolean take(long more) {
      if (bytes.addAndGet(more) > maxClientBytes) {
        giveBack(more);
        return false;
      }
      return true;
    }

    void giveBack(long taken) {
      if (bytes.addAndGet(-taken) == 0 && connections == 0) {
        byAddress.computeIfPresent(address, (key, known) -> known.isIdle() ? null : known);
      }
    }

    private boolean isIdle() {
      return connections == 0 && bytes.get() == 0;
    }
  }
}
