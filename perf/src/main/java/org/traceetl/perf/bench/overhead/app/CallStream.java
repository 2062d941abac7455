package org.traceetl.perf.bench.overhead.app;

import java.util.SplittableRandom;
import org.traceetl.perf.bench.load.SpanStream;

/**
 * Draws calls of 30 applications with 50 operations each, with the shares, values and durations of
 * {@link SpanStream}.
 */
final class CallStream {
  static final int APPLICATIONS = 30;
  static final int OPERATIONS = 50;

  private static final int HOSTS = 64;
  private static final int THREADS = 200;
  private static final long[] STATUS_CODES = {200, 201, 204, 304, 400, 404};

  private final SplittableRandom random;
  private final double[] applicationShares = SpanStream.zipf(APPLICATIONS);
  private final double[] operationShares = SpanStream.zipf(OPERATIONS);
  private final String[][] routes = new String[APPLICATIONS][OPERATIONS];
  private final String[] hosts = new String[HOSTS];
  private final String[] threadNames = new String[THREADS];

  CallStream(long seed) {
    random = new SplittableRandom(seed);
    for (int application = 0; application < APPLICATIONS; application++) {
      for (int operation = 0; operation < OPERATIONS; operation++) {
        routes[application][operation] =
            "/api/v1/app" + application + "/resource" + operation + "/{id}";
      }
    }
    for (int host = 0; host < HOSTS; host++) {
      hosts[host] = "10.0." + host / 8 + "." + host % 8;
    }
    for (int thread = 0; thread < THREADS; thread++) {
      threadNames[thread] = "worker-" + thread;
    }
  }

  /** Draws the application of a request. */
  int application() {
    return SpanStream.draw(applicationShares, random);
  }

  /** Draws a call of an application. */
  Call call(int application) {
    int operation = SpanStream.draw(operationShares, random);
    boolean failed = random.nextInt(100) == 0;
    int thread = random.nextInt(THREADS);
    return new Call(
        operation,
        routes[application][operation],
        "/api/v1/app" + application + "/resource" + operation + "/" + random.nextInt(),
        failed,
        failed ? 500 : STATUS_CODES[random.nextInt(STATUS_CODES.length)],
        hosts[random.nextInt(HOSTS)],
        hosts[random.nextInt(HOSTS)],
        thread,
        threadNames[thread],
        (long) (20e6 * Math.exp(random.nextGaussian())));
  }
}
