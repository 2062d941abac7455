package org.traceetl.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.publish.RocketMqTransport;
import org.traceetl.agent.publish.Transport;
import org.traceetl.common.Clocks;

/**
 * What an agent runs on. Tests and simulations replace it.
 *
 * @param random chooses the ID of a new agent and varies pauses after failures; safe for any thread
 * @param disk of the state directory, the spool and the files of rules
 * @param host name of the host in heartbeats, for people; may be empty
 */
public record Platform(
    Clocks clocks, RandomGenerator random, Disk disk, Transport.Connector transports, String host) {
  /** This machine and RocketMQ. The random is secure, so that the IDs of all agents differ. */
  public static final Platform SYSTEM =
      new Platform(
          Clocks.SYSTEM, new SecureRandom(), Disk.SYSTEM, RocketMqTransport::connect, hostName());

  /** Returns the name without a lookup in DNS, which could delay the start. */
  private static String hostName() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException e) {
      return Objects.requireNonNullElse(System.getenv("HOSTNAME"), "");
    }
  }
}
