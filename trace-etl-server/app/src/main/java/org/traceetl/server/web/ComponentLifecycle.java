package org.traceetl.server.web;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.apache.catalina.connector.Connector;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.traceetl.server.assembly.AnnouncedAddress;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.component.Components;
import org.traceetl.server.rocketmq.Announcement;

/**
 * Starts the components last and drains them first. The port stays open while they drain, so that
 * queues are shown until they are released; readiness already says that the server stops.
 */
final class ComponentLifecycle implements SmartLifecycle {
  private final WebServerApplicationContext context;
  private final Components components;
  private final ServerConfig config;
  private volatile boolean running;

  ComponentLifecycle(
      WebServerApplicationContext context, Components components, ServerConfig config) {
    this.context = context;
    this.components = components;
    this.config = config;
  }

  @Override
  public void start() {
    Connector port = ((TomcatWebServer) context.getWebServer()).getTomcat().getConnector();
    InetAddress bound = (InetAddress) port.getProperty("address");
    AnnouncedAddress configured = config.feature(AnnouncedAddress.class);
    components.start(
        Announcement.own(
            configured == null ? null : configured.address(),
            new InetSocketAddress(bound, port.getLocalPort()),
            port.getSecure(),
            config.rocketmq().nameServer()));
    running = true;
  }

  @Override
  public void stop() {
    running = false;
    components.drain(config.drainWithin());
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
