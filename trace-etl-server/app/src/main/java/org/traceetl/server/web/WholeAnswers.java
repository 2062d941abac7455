package org.traceetl.server.web;

import jakarta.servlet.ServletException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.catalina.Valve;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Keeps a stopping server from closing a connection before the answer is sent. The graceful
 * shutdown waits until the servlets of all requests have ended; but Tomcat sends what they have
 * buffered, often the whole answer, only afterwards.
 */
final class WholeAnswers implements SmartLifecycle {
  private static final Logger log = LoggerFactory.getLogger(WholeAnswers.class);
  private static final int ALL = Integer.MAX_VALUE;

  private final Duration limit;

  /** Each request has a permit until its answer is sent. */
  private final Semaphore unanswered = new Semaphore(ALL);

  private volatile boolean running;

  /**
   * @param limit how long a stop waits for answers
   */
  WholeAnswers(Duration limit) {
    this.limit = limit;
  }

  /** Returns the valve through which all requests must come first. */
  Valve valve() {
    return new ValveBase(true) {
      @Override
      public void invoke(Request request, Response response) throws IOException, ServletException {
        unanswered.acquireUninterruptibly();
        try {
          getNext().invoke(request, response);
          if (!request.isAsync()) {
            request.finishRequest();
            response.finishResponse();
          }
        } finally {
          unanswered.release();
        }
      }
    };
  }

  @Override
  public void start() {
    running = true;
  }

  @Override
  public void stop() {
    running = false;
    try {
      if (unanswered.tryAcquire(ALL, limit.toMillis(), TimeUnit.MILLISECONDS)) {
        unanswered.release(ALL);
      } else {
        log.warn("Closing the port before all answers are sent: {} passed", limit);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  /** After the graceful shutdown, which lets no request in, and before the port is closed. */
  @Override
  public int getPhase() {
    return WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE - 1;
  }
}
