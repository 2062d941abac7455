package org.traceetl.server.web;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import org.springframework.core.env.Environment;
import org.traceetl.common.Reason;
import org.traceetl.server.binding.ConfigurationRefused;

/** Opens the HTTP port for a moment, because Spring reports a failure with stack traces. */
final class PortProbe {
  private static final int DEFAULT_PORT = 8080;

  private PortProbe() {}

  /**
   * @throws PortTaken if another program has the port
   * @throws ConfigurationRefused if the address is not one of this host
   */
  static void check(Environment environment) {
    int port = environment.getProperty("server.port", Integer.class, DEFAULT_PORT);
    String address = environment.getProperty("server.address");
    try (ServerSocket probe = new ServerSocket()) {
      InetAddress bound = address == null ? null : InetAddress.getByName(address);
      probe.bind(new InetSocketAddress(bound, port));
    } catch (BindException e) {
      if (String.valueOf(e.getMessage()).contains("in use")) {
        throw new PortTaken(port, e);
      }
      throw notOpened(address, port, e);
    } catch (UnknownHostException e) {
      throw new ConfigurationRefused(
          "server.address = "
              + address
              + ": must be an IP address of this host, or a name that resolves to one",
          e);
    } catch (IOException e) {
      throw notOpened(address, port, e);
    }
  }

  private static ConfigurationRefused notOpened(String address, int port, IOException reason) {
    return new ConfigurationRefused(
        (address == null ? "" : "server.address = " + address + ", ")
            + "server.port = "
            + port
            + ": cannot be opened ("
            + Reason.of(reason)
            + "); configure an address of this host and a port that this user may open",
        reason);
  }
}
