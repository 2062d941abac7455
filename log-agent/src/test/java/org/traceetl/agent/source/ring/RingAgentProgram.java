package org.traceetl.agent.source.ring;

import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** An agent in a process of its own: it says how many spans it has read, of how many rings now. */
final class RingAgentProgram {
  private RingAgentProgram() {}

  /** Reads in the directory that its argument names, until it is killed. */
  public static void main(String[] args) throws Exception {
    try (RingAgent agent = RingAgent.of(Path.of(args[0]), 4)) {
      agent.start();
      String told = "";
      while (true) {
        String now =
            "spans %d rings %.0f waiting %.0f"
                .formatted(agent.intake.size(), agent.rings("read"), agent.rings("waiting"));
        if (!now.equals(told)) {
          told = now;
          System.out.println(now);
        }
        LockSupport.parkNanos(1_000_000);
      }
    }
  }
}
