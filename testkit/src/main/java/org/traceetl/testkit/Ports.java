package org.traceetl.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Ports for programs that leave and come back. They are below those that the system gives to
 * outgoing connections, so that none of these takes a port while its program is away.
 */
public final class Ports {
  private static final int FROM = 20_000;
  private static final int TO = 32_000;
  private static final int ATTEMPTS = 1_000;

  private final RandomGenerator random = RandomGenerator.getDefault();
  private final Set<Integer> taken = new HashSet<>();

  public int next() throws IOException {
    return next(0, 0);
  }

  /**
   * A free port whose neighbours are free too.
   *
   * @param below how many neighbours below
   * @param above how many neighbours above
   */
  public int next(int below, int above) throws IOException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      int port = random.nextInt(FROM, TO);
      boolean free = true;
      for (int one = port - below; one <= port + above; one++) {
        free &= !taken.contains(one) && isFree(one);
      }
      if (free) {
        for (int one = port - below; one <= port + above; one++) {
          taken.add(one);
        }
        return port;
      }
    }
    throw new IOException("no free port between " + FROM + " and " + TO);
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (IOException e) {
      return false;
    }
  }
}
