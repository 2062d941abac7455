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
import org.traceetl.agent.source.otlp.OtlpMetrics.ConnectionRefusal;

/**
 * The senders by address, with the connections and bytes in flight of each. A sender at its limit
 * waits, so that other senders can proceed. Safe for any thread.
 *
 * <p>A sender is listed while it has a connection or bytes in flight. So the table is bounded by
 * the limits of connections and of the pipeline.
 */
final class Clients {
  static final String FULL = "this sender has reached its limit of bytes in flight";

  /** Allowance for a request's head and a few bytes of framing. */
  private static final int FRAMING_BYTES = 8 * 1_024;

  /**
   * Short pieces add at most one part in this many to a request's charge: {@link ReadBudget#charge
   * 1 KiB} at the end of each 8 KiB.
   */
  private static final int PIECES_SHARE = 8;

  private static final AttributeKey<Client> CLIENT = AttributeKey.valueOf(Clients.class, "client");

  private final OtlpLimits limits;
  private final long maxClientBytes;
  private final OtlpMetrics metrics;
  private final AtomicInteger connections = new AtomicInteger();
  private final ConcurrentHashMap<InetAddress, Client> byAddress = new ConcurrentHashMap<>();

  /**
   * @param maxBytes bytes in flight of all senders
   * @param maxRequestBytes each sender may always have one request of this size in flight
   */
  Clients(OtlpLimits limits, long maxBytes, int maxRequestBytes, OtlpMetrics metrics) {
    this.limits = limits;
    this.metrics = metrics;
    long share =
        limits.maxClientBytesInFlight() == 0 ? maxBytes / 2 : limits.maxClientBytesInFlight();
    // The charge for the largest request exceeds its bytes if its pieces end with short ones.
    long largest = maxRequestBytes + maxRequestBytes / PIECES_SHARE;
    this.maxClientBytes = Math.max(share, largest) + FRAMING_BYTES;
  }

  /** Counts a connection. If a limit is reached, counts a refusal and returns false. */
  boolean connect(Channel connection) {
    if (connections.incrementAndGet() > limits.maxConnections()) {
      connections.decrementAndGet();
      metrics.connectionRefused(ConnectionRefusal.ALL);
      return false;
    }
    AtomicBoolean full = new AtomicBoolean();
    Client client =
        byAddress.compute(
            addressOf(connection.remoteAddress()),
            (address, known) -> {
              Client its = known == null ? new Client(address) : known;
              // Inside compute, so that a sender's connections are counted one at a time.
              if (its.connections < limits.maxClientConnections()) {
                its.connections++;
              } else {
                full.set(true);
              }
              return its;
            });
    if (full.get()) {
      connections.decrementAndGet();
      metrics.connectionRefused(ConnectionRefusal.CLIENT);
      return false;
    }
    connection.attr(CLIENT).set(client);
    connection.closeFuture().addListener(closed -> disconnect(client));
    return true;
  }

  /** Returns the sender of a connection. */
  static Client of(Channel connection) {
    return connection.attr(CLIENT).get();
  }

  /** Returns the sender of an address. */
  Client of(SocketAddress address) {
    Client known = byAddress.get(addressOf(address));
    // The address is unknown only if its last connection has just been closed.
    return known == null ? new Client(addressOf(address)) : known;
  }

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

  final class Client {
    private final InetAddress address;
    private final AtomicLong bytes = new AtomicLong();
    // Written only inside an update of the table.
    private volatile int connections;

    private Client(InetAddress address) {
      this.address = address;
    }

    InetAddress address() {
      return address;
    }

    /** Takes bytes of the sender's share; returns false and takes none if it is used up. */
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
