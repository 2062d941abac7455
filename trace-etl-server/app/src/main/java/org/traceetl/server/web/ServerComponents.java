package org.traceetl.server.web;

import org.traceetl.common.Clocks;
import org.traceetl.server.component.Components;
import org.traceetl.server.telemetry.ServerTelemetry;

/**
 * What the port serves: the components, started after the port is open and drained before it
 * closes.
 */
public record ServerComponents(ServerTelemetry telemetry, Components components, Clocks clocks)
    implements AutoCloseable {
  @Override
  public void close() {
    components.close();
  }
}
