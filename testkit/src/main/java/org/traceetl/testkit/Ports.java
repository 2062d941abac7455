package org.traceetl.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Ports for programs that stop and restart. They are below the range of outgoing connections, so
 * that no connection takes a port while its program is stopped.
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
   * Returns a free port whose neighbours are free too.
   *
   * @param below number of neighbours below
   * @param above number of neighbours above
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
