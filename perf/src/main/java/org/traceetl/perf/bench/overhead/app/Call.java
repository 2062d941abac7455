package org.traceetl.perf.bench.overhead.app;

/**
 * A call of an operation, with what its span would say.
 *
 * @param operation its number, from 0
 * @param route of the operation
 * @param path of this call
 * @param server its address
 * @param client its address
 * @param thread number of the thread that handles it
 */
record Call(
    int operation,
    String route,
    String path,
    boolean failed,
    long statusCode,
    String server,
    String client,
    int thread,
    String threadName,
    long durationNanos) {}
