package org.traceetl.perf.simulate.fault;

import java.util.Locale;
import org.traceetl.perf.simulate.broker.Misbehaviour;

/**
 * A fault of a schedule. {@link FaultText} reads and writes the components of each record by name.
 */
public sealed interface Fault {
  /** Milliseconds since the start of the run. */
  long atMillis();

  /** Milliseconds from the begin to the end; 0 if the fault needs no end. */
  long lastsMillis();

  default void begin(Installation on) {
    apply(on, true);
  }

  default void end(Installation on) {
    apply(on, false);
  }

  /**
   * Begins or ends a fault whose begin and end differ in a value only.
   *
   * @param active true at its begin
   */
  default void apply(Installation on, boolean active) {}

  default long endMillis() {
    return atMillis() + lastsMillis();
  }

  /** Returns what faults are counted by: the name of the record, in lower case with hyphens. */
  default String kind() {
    return FaultText.hyphenated(getClass().getSimpleName());
  }

  /** A program is killed at a step, and starts again. */
  record Crash(long atMillis, Target target, int operations, long lastsMillis) implements Fault {
    @Override
    public void begin(Installation on) {
      on.kill(target, operations);
    }

    @Override
    public void end(Installation on) {
      on.start(target);
    }
  }

  /** An agent's host loses power. */
  record PowerLoss(long atMillis, Target target, int operations, long lastsMillis)
      implements Fault {
    @Override
    public void begin(Installation on) {
      on.losePower(target, operations);
    }

    @Override
    public void end(Installation on) {
      on.start(target);
    }
  }

  /** A program ends in order, and starts again. */
  record Drain(long atMillis, Target target, long lastsMillis) implements Fault {
    @Override
    public void begin(Installation on) {
      on.drain(target);
    }

    @Override
    public void end(Installation on) {
      on.start(target);
    }
  }

  /** A further server joins, and leaves in order. */
  record ScaleOut(long atMillis, Target target, long lastsMillis) implements Fault {
    @Override
    public void begin(Installation on) {
      on.start(target);
    }

    @Override
    public void end(Installation on) {
      on.drain(target);
    }
  }

  /** A program does not run for a time. */
  record Pause(long atMillis, Target target, long lastsMillis) implements Fault {
    @Override
    public void begin(Installation on) {
      on.pause(target);
    }

    @Override
    public void end(Installation on) {
      on.resume(target);
    }
  }

  /** The wall clock of a program steps, and steps back. */
  record ClockStep(long atMillis, Target target, long byMillis, long lastsMillis) implements Fault {
    @Override
    public void apply(Installation on, boolean active) {
      on.stepClock(target, active ? byMillis : -byMillis);
    }
  }

  /** The clocks of a program run too fast or too slowly. */
  record Drift(long atMillis, Target target, int partsPerMillion, long lastsMillis)
      implements Fault {
    @Override
    public void apply(Installation on, boolean active) {
      on.drift(target, active ? partsPerMillion : 0);
    }
  }

  /** A disk is full. */
  record FullDisk(long atMillis, Target target, long lastsMillis) implements Fault {
    @Override
    public void apply(Installation on, boolean active) {
      on.fillDisk(target, active);
    }
  }

  /** A disk is slow. */
  record SlowDisk(long atMillis, Target target, long delayMillis, long lastsMillis)
      implements Fault {
    @Override
    public void apply(Installation on, boolean active) {
      on.slowDisk(target, active ? delayMillis : 0);
    }
  }

  /** The routing file of an agent changes the number of queues of each application. */
  record Routing(long atMillis, Target target, int queues, long lastsMillis) implements Fault {
    @Override
    public void apply(Installation on, boolean active) {
      on.route(target, active ? queues : 0);
    }
  }

  /** Flushes of a disk fail. */
  record FailedFlushes(long atMillis, Target target, long lastsMillis) implements Fault {
    @Override
    public void apply(Installation on, boolean active) {
      on.failFlushes(target, active);
    }
  }

  /** The network between two targets fails, in one direction or in both. */
  record Partition(long atMillis, Target from, Target to, boolean both, long lastsMillis)
      implements Fault {
    @Override
    public void begin(Installation on) {
      on.cut(from, to);
      if (both) {
        on.cut(to, from);
      }
    }

    @Override
    public void end(Installation on) {
      on.join(from, to);
      if (both) {
        on.join(to, from);
      }
    }
  }

  /** Writes to a disk fail. */
  record FailedWrites(long atMillis, Target target, long lastsMillis) implements Fault {
    @Override
    public void apply(Installation on, boolean active) {
      on.failWrites(target, active);
    }
  }

  /** The master of a broker ends, and starts with what it stored. */
  record BrokerCrash(long atMillis, Target target, long lastsMillis) implements Fault {
    @Override
    public void begin(Installation on) {
      on.crashBroker(target);
    }

    @Override
    public void end(Installation on) {
      on.start(target);
    }
  }

  /** The disk of a broker's master stalls, and then its host loses power. */
  record BrokerPowerLoss(long atMillis, Target target, long stallMillis, long lastsMillis)
      implements Fault {
    public BrokerPowerLoss {
      if (stallMillis < 0 || stallMillis >= lastsMillis) {
        throw new IllegalArgumentException(
            "stall-millis = " + stallMillis + ": must be 0 or more and less than lasts-millis");
      }
    }

    @Override
    public void begin(Installation on) {
      on.losePowerOfBroker(target, stallMillis);
    }

    @Override
    public void end(Installation on) {
      on.start(target);
    }
  }

  /** A replica ends, and starts with what it stored. */
  record ReplicaCrash(long atMillis, Target target, int replica, long lastsMillis)
      implements Fault {
    @Override
    public void begin(Installation on) {
      on.crashReplica(target, replica);
    }

    @Override
    public void end(Installation on) {
      on.startReplica(target, replica);
    }
  }

  /** A replica copies late. */
  record ReplicaLag(long atMillis, Target target, int replica, long delayMillis, long lastsMillis)
      implements Fault {
    @Override
    public void apply(Installation on, boolean active) {
      on.lag(target, replica, active ? delayMillis : 0);
    }
  }

  /** Another replica of a broker becomes the master. */
  record FailOver(long atMillis, Target target, int lostMessages, long lastsMillis)
      implements Fault {
    @Override
    public void begin(Installation on) {
      on.failOver(target, lostMessages);
    }
  }

  /** Senders do not see the queues of a broker. */
  record ReadOnly(long atMillis, Target target, long lastsMillis) implements Fault {
    @Override
    public void apply(Installation on, boolean active) {
      on.readOnly(target, active);
    }
  }

  /** A broker, or the network to it, serves badly. */
  record BadService(
      long atMillis,
      Target target,
      Misbehaviour how,
      int perMille,
      long delayMillis,
      long lastsMillis)
      implements Fault {
    @Override
    public void apply(Installation on, boolean active) {
      on.misbehave(target, how, active ? perMille : 0, active ? delayMillis : 0);
    }

    @Override
    public String kind() {
      return how.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** Brokers forget a member of the consumer group, at the begin and at the end: queues move. */
  record Rebalance(long atMillis, long lastsMillis) implements Fault {
    @Override
    public void apply(Installation on, boolean active) {
      on.rebalance();
    }
  }

  /** Each broker gets one more queue of half-edges, so edges move to it. */
  record AddedEdgeQueue(long atMillis, long lastsMillis) implements Fault {
    @Override
    public void begin(Installation on) {
      on.addEdgeQueue();
    }
  }

  /**
   * Servers get a file of rules with a higher revision, each at another time: the first
   * applications have one more dimension, the others no longer.
   */
  record ChangedRules(long atMillis, int applications, long lastsMillis) implements Fault {
    @Override
    public void begin(Installation on) {
      on.changeRules(applications);
    }
  }

  /**
   * Backfills an application from the begin of the run until the switch of its rules. It begins
   * again until it has ended.
   */
  record Backfill(long atMillis, Target target, long lastsMillis) implements Fault {
    @Override
    public void begin(Installation on) {
      on.start(target);
    }
  }

  /** A broker deletes old messages. */
  record Retention(long atMillis, Target target, long olderMillis, long lastsMillis)
      implements Fault {
    @Override
    public void begin(Installation on) {
      on.deleteMessages(target, olderMillis);
    }
  }

  /** The index does not answer. */
  record IndexAway(long atMillis, long lastsMillis) implements Fault {
    @Override
    public void apply(Installation on, boolean active) {
      on.indexAway(active);
    }
  }

  /** The index rejects requests, executes them in part, and loses answers. */
  record BadIndex(long atMillis, int perMille, long lastsMillis) implements Fault {
    @Override
    public void apply(Installation on, boolean active) {
      on.troubleIndex(active ? perMille : 0);
    }
  }
}
