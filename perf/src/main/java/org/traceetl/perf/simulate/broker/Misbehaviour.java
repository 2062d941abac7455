package org.traceetl.perf.simulate.broker;

/**
 * What a broker or the network to it may do to a request, at a rate that a schedule sets. The
 * comments name where it was read in RocketMQ 5.5.0 or seen by {@code bin/chaos}.
 */
public enum Misbehaviour {
  /** The request is lost; the client has a timeout. Seen: a cable is pulled. */
  LOST_REQUEST,
  /** The request takes effect, its answer is lost. Seen: a broker is killed after its append. */
  LOST_ANSWER,
  /**
   * The request takes effect late, often after the client's timeout. Read:
   * BrokerConfig.waitTimeMillsInSendQueue, for which requests wait in the broker's queue.
   */
  LATE_REQUEST,
  /** The answer is late. Seen: a broker is stopped and continued. */
  LATE_ANSWER,
  /**
   * A stored send is stored again; one answer arrives. Read: NettyRemotingAbstract, whose table of
   * responses drops a second answer; and producers that retry.
   */
  REPEATED_REQUEST,
  /**
   * A send is not stored: SYSTEM_BUSY. Read: BrokerFastFailure.cleanExpiredRequestInQueue,
   * "[TIMEOUT_CLEAN_QUEUE]broker busy".
   */
  BUSY,
  /**
   * A send is stored; the answer is FLUSH_DISK_TIMEOUT. Read: CommitLog.GroupCommitService, after
   * syncFlushTimeout.
   */
  FLUSH_DISK_TIMEOUT,
  /**
   * A send is stored; the answer is FLUSH_SLAVE_TIMEOUT. Read: GroupTransferService.doWaitTransfer,
   * after slaveTimeout.
   */
  FLUSH_SLAVE_TIMEOUT,
  /**
   * A send is stored; the answer is SLAVE_NOT_AVAILABLE. Read: brokers before 5.0. The store of
   * RocketMQ 5.5.0 never returns it.
   */
  SLAVE_NOT_AVAILABLE,
  /**
   * A pull has no answer until the client's timeout, although there are messages. Read:
   * DefaultPullMessageResultHandler, which drops a pull if the channel is not writable.
   */
  STUCK_PULL,
  /**
   * A cancelled pull still delivers its messages after a seek, and moves the position. Read:
   * DefaultLitePullConsumerImpl.PullTaskImpl tests the cancellation before it waits for the lock.
   */
  REPEATED_PULL,
  /**
   * A client is not informed of a new member. Read: Broker2Client.notifyConsumerIdsChanged is a
   * one-way request.
   */
  LOST_NOTICE,
  /**
   * A client receives the route before the last change. Read: RouteInfoManager batches
   * unregistrations, and name servers do not agree at all times.
   */
  STALE_ROUTE
}
