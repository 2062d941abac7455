package org.traceetl.perf.simulate.broker;

import org.apache.rocketmq.remoting.protocol.ResponseCode;

/**
 * A broker's answer.
 *
 * @param code a {@link ResponseCode}
 * @param remark why it is not SUCCESS
 * @param value null if it is not SUCCESS
 */
record Reply<T>(int code, String remark, T value) {
  /** Stands for a connection that ended before the answer. */
  static final int CLOSED = -100;

  static <T> Reply<T> of(T value) {
    return new Reply<>(ResponseCode.SUCCESS, null, value);
  }

  static <T> Reply<T> refused(int code, String remark) {
    return new Reply<>(code, remark, null);
  }

  static <T> Reply<T> closed() {
    return new Reply<>(CLOSED, "the connection was closed", null);
  }

  /** Receives an answer: at once, later, or never. */
  @FunctionalInterface
  interface To<T> {
    void answer(Reply<T> reply);
  }

  /** A request, carried out by a broker. */
  @FunctionalInterface
  interface Request<T> {
    void at(Replica broker, To<T> to);
  }
}
