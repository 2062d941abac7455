package org.traceetl.server.web;

import java.time.Duration;
import org.springframework.context.SmartLifecycle;

/**
 * Starts the service last and drains it first: the port is open meanwhile, so that queues are shown
 * until they are released, while readiness already says that the server ends.
 */
final class ServiceLifecycle implements SmartLifecycle {
  private final Service service;
  private final Duration drainWithin;
  private volatile boolean running;

  ServiceLifecycle(Service service, Duration drainWithin) {
    this.service = service;
    this.drainWithin = drainWithin;
  }

  @Override
  public void start() {
    service.start();
    running = true;
  }

  @Override
  public void stop() {
    running = false;
    service.drain(drainWithin);
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return Integer.MAX_VALUE;
  }
}
