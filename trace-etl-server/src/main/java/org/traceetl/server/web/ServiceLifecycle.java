package org.traceetl.server.web;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.apache.catalina.connector.Connector;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Starts the service last and drains it first: the port is open meanwhile, so that queues are shown
 * until they are released, while readiness already says that the server ends.
 */
final class ServiceLifecycle implements SmartLifecycle {
  private final WebServerApplicationContext context;
  private final Service service;
  private final Duration drainWithin;
  private volatile boolean running;

  ServiceLifecycle(WebServerApplicationContext context, Service service, Duration drainWithin) {
    this.context = context;
    this.service = service;
    this.drainWithin = drainWithin;
  }

  @Override
  public void start() {
    Connector port = ((TomcatWebServer) context.getWebServer()).getTomcat().getConnector();
    InetAddress bound = (InetAddress) port.getProperty("address");
    service.start(new InetSocketAddress(bound, port.getLocalPort()), port.getSecure());
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
