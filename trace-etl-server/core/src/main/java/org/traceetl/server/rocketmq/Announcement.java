package org.traceetl.server.rocketmq;

import com.google.common.base.Splitter;
import com.google.common.net.HostAndPort;
import com.google.common.net.InetAddresses;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Optional;

/**
 * Announces a server's endpoint in the names of its RocketMQ clients, {@code
 * ADDRESS@INSTANCE=ENDPOINT}. The client appends {@code @} and a suffix such as {@code STREAM}.
 * Brokers report the names of a group's members to each member.
 */
public final class Announcement {
  /** Default port of RocketMQ's name servers. */
  private static final int NAME_SERVER_PORT = 9876;

  private static final char SEPARATOR = '=';

  private Announcement() {}

  /**
   * Returns the name of a client's instance.
   *
   * @param instance unique name
   * @param endpoint null to announce nothing
   */
  public static String instance(String instance, Endpoint endpoint) {
    return endpoint == null ? instance : instance + SEPARATOR + endpoint;
  }

  /** Returns whether a client's name contains an announcement, valid or not. */
  public static boolean announces(String clientName) {
    return clientName.indexOf(SEPARATOR) >= 0;
  }

  /** Returns the endpoint that a client's name announces, if it is valid. */
  public static Optional<Endpoint> read(String clientName) {
    int from = clientName.indexOf(SEPARATOR) + 1;
    int to = clientName.indexOf('@', from);
    return Endpoint.parse(to < 0 ? clientName.substring(from) : clientName.substring(from, to));
  }

  /**
   * Returns the endpoint of this server.
   *
   * @param given {@code host} or {@code host:port}; null to detect it
   * @param open the port; its address is the wildcard if it is open on all addresses
   * @param nameServers {@code host:port}, separated by semicolons
   */
  public static Endpoint own(
      String given, InetSocketAddress open, boolean tls, String nameServers) {
    if (given != null) {
      HostAndPort address = HostAndPort.fromString(given);
      return new Endpoint(tls, address.getHost(), address.getPortOrDefault(open.getPort()));
    }
    InetAddress address =
        open.getAddress().isAnyLocalAddress() ? towards(nameServers) : open.getAddress();
    String text = InetAddresses.toAddrString(address);
    int zone = text.indexOf('%');
    return new Endpoint(tls, zone < 0 ? text : text.substring(0, zone), open.getPort());
  }

  /** Returns the local address of the route to the first name server with a route. */
  private static InetAddress towards(String nameServers) {
    for (String nameServer : Splitter.on(';').trimResults().omitEmptyStrings().split(nameServers)) {
      try (DatagramSocket socket = new DatagramSocket()) {
        HostAndPort address = HostAndPort.fromString(nameServer);
        // Sends nothing: the system only selects a route.
        socket.connect(
            new InetSocketAddress(
                InetAddress.getByName(address.getHost()),
                address.getPortOrDefault(NAME_SERVER_PORT)));
        if (!socket.getLocalAddress().isAnyLocalAddress()) {
          return socket.getLocalAddress();
        }
      } catch (IOException | IllegalArgumentException e) {
        // Try the next one.
        continue;
      }
    }
    try {
      return InetAddress.getLocalHost();
    } catch (UnknownHostException e) {
      return InetAddress.getLoopbackAddress();
    }
  }
}
