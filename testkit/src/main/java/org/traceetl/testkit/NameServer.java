package org.traceetl.testkit;

import java.io.IOException;
import java.nio.file.Path;

/** RocketMQ's name server as a program. RocketMQ's own start class needs its Raft controller. */
public final class NameServer {
  private NameServer() {}

  /**
   * Runs until the process is killed.
   *
   * @param arguments port, directory for its files, and address to listen on
   */
  public static void main(String... arguments) throws IOException {
    EmbeddedRocketMq.startNameServer(
        Path.of(arguments[1]), arguments[2], Integer.parseInt(arguments[0]));
    System.out.println("name server on port " + arguments[0]);
  }
}
