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
 * How a server says where it is: in the names of its RocketMQ clients, {@code
 * ADDRESS@INSTANCE=ENDPOINT}, behind which the client puts {@code @} and what it is besides, such
 * as {@code STREAM}. Brokers tell the names of a group's members to each other member.
 */
public final class Announcement {
  /** Of RocketMQ's name servers, unless they say otherwise. */
  private static final int NAME_SERVER_PORT = 9876;

  private static final char SEPARATOR = '=';

  private Announcement() {}

  /**
   * What a client's instance is called.
   *
   * @param instance a name of its own
   * @param endpoint null to announce nothing
   */
  public static String instance(String instance, Endpoint endpoint) {
    return endpoint == null ? instance : instance + SEPARATOR + endpoint;
  }

  /** Whether a client's name announces something, right or wrong. */
  public static boolean announces(String clientName) {
    return clientName.indexOf(SEPARATOR) >= 0;
  }

  /** What a client's name announces, if it is an endpoint. */
  public static Optional<Endpoint> read(String clientName) {
    int from = clientName.indexOf(SEPARATOR) + 1;
    int to = clientName.indexOf('@', from);
    return Endpoint.parse(to < 0 ? clientName.substring(from) : clientName.substring(from, to));
  }

  /**
   * Where this server is.
   *
   * @param given {@code host} or {@code host:port}; null to find it out
   * @param open the port; its address is the wildcard where it is open on all of them
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

  /** With which address of its own this host talks to the first name server it can talk to. */
  private static InetAddress towards(String nameServers) {
    for (String nameServer : Splitter.on(';').trimResults().omitEmptyStrings().split(nameServers)) {
      try (DatagramSocket socket = new DatagramSocket()) {
        HostAndPort address = HostAndPort.fromString(nameServer);
        // Sends nothing: it only has the system choose a route.
        socket.connect(
            new InetSocketAddress(
                InetAddress.getByName(address.getHost()),
                address.getPortOrDefault(NAME_SERVER_PORT)));
        if (!socket.getLocalAddress().isAnyLocalAddress()) {
          return socket.getLocalAddress();
        }
      } catch (IOException | IllegalArgumentException e) {
        // Not known now, or not like this: the next one.
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
