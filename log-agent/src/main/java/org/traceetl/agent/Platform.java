package org.traceetl.agent;

import java.security.SecureRandom;
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
 */
public record Platform(
    Clocks clocks, RandomGenerator random, Disk disk, Transport.Connector transports) {
  /** This machine and RocketMQ. The random is secure, so that the IDs of all agents differ. */
  public static final Platform SYSTEM =
      new Platform(Clocks.SYSTEM, new SecureRandom(), Disk.SYSTEM, RocketMqTransport::connect);
}
