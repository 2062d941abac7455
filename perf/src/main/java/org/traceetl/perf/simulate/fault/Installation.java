package org.traceetl.perf.simulate.fault;

import org.traceetl.perf.simulate.broker.Misbehaviour;

/**
 * What faults do to an installation. Each method returns at once, and has no effect if it does not
 * apply: a program that does not run cannot be killed. Called by the scheduler.
 */
public interface Installation {
  /**
   * Ends a program at once, as {@code kill -9}.
   *
   * @param operations device operations that it still completes; 0 kills it now
   */
  void kill(Target program, int operations);

  /**
   * Kills an agent and loses what its disk has not forced.
   *
   * @param operations as in {@link #kill}
   */
  void losePower(Target agent, int operations);

  /** Starts a program that does not run. */
  void start(Target program);

  /** Ends a program in order, as SIGTERM. */
  void drain(Target program);

  /** Stops the threads of a program, as SIGSTOP. */
  void pause(Target program);

  /** Continues a paused program. */
  void resume(Target program);

  /** Steps the wall clock of a program or broker. */
  void stepClock(Target target, long millis);

  /** Sets the rate of a program's clocks; 0 is the true rate. */
  void drift(Target program, double partsPerMillion);

  /** Fills the disk of an agent or broker. */
  void fillDisk(Target target, boolean full);

  /** Changes an agent's routing file: the number of queues of each application; 0: as usual. */
  void route(Target agent, int queues);

  /** Delays each operation of a disk; 0 ends it. */
  void slowDisk(Target agent, long millis);

  /** Lets each flush of a disk fail. */
  void failFlushes(Target agent, boolean failing);

  /** Lets each write to a disk fail. */
  void failWrites(Target agent, boolean failing);

  /** Drops what one target sends to another. */
  void cut(Target from, Target to);

  /** Ends {@link #cut}. */
  void join(Target from, Target to);

  /** Kills the master of a broker; {@link #start} continues with what it has stored. */
  void crashBroker(Target broker);

  /**
   * Kills the master of a broker, and loses what its disk has not flushed.
   *
   * @param stallMillis for which the disk flushes nothing before
   */
  void losePowerOfBroker(Target broker, long stallMillis);

  /**
   * Kills one replica of a broker.
   *
   * @param replica from 0
   */
  void crashReplica(Target broker, int replica);

  void startReplica(Target broker, int replica);

  /** Delays the copies of a replica; 0 ends it. */
  void lag(Target broker, int replica, long millis);

  /**
   * Another replica becomes the master.
   *
   * @param messages unconfirmed messages at the end of each queue that are lost, at most
   */
  void failOver(Target broker, int messages);

  /**
   * Lets a broker and the network to it misbehave.
   *
   * @param perMille requests that are affected; 0 ends it
   * @param millis longest delay, if there is one
   */
  void misbehave(Target broker, Misbehaviour how, int perMille, long millis);

  /** Hides the queues of a broker from senders. */
  void readOnly(Target broker, boolean now);

  /** Rebalances the queues of all servers now, in an order of its own. */
  void rebalance();

  /** Adds a queue of half-edges on each broker, once; without half-edges it has no effect. */
  void addEdgeQueue();

  /**
   * Changes the servers' files of rules.
   *
   * @param applications the first ones, which then have one more dimension; 0 for none
   */
  void changeRules(int applications);

  /**
   * Deletes the oldest messages of a broker.
   *
   * @param olderMillis only messages that were stored longer ago
   */
  void deleteMessages(Target broker, long olderMillis);

  void indexAway(boolean away);

  /**
   * Lets the index reject requests, execute them in part, and lose answers.
   *
   * @param perMille requests that are affected; 0 ends it
   */
  void troubleIndex(int perMille);
}
