package org.traceetl.agent.source.ring;

import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** An agent in its own process; it prints the number of spans read and of current rings. */
final class RingAgentProgram {
  private RingAgentProgram() {}

  /** Reads rings in the directory of its argument until it is killed. */
  public static void main(String[] args) throws Exception {
    try (RingAgent agent = RingAgent.of(Path.of(args[0]), 4)) {
      agent.start();
      String told = "";
      while (true) {
        String now =
            "spans %d rings %d waiting %d"
                .formatted(agent.intake.size(), agent.metrics().reading, agent.metrics().waiting);
        if (!now.equals(told)) {
          told = now;
          System.out.println(now);
        }
        LockSupport.parkNanos(1_000_000);
      }
    }
  }
}
