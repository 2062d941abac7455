package org.traceetl.server.web;

import org.traceetl.common.Clocks;
import org.traceetl.server.binding.AccessFile;
import org.traceetl.server.component.Components;
import org.traceetl.server.telemetry.ServerTelemetry;

/**
 * What the port serves: the components, started after the port is open and drained before it
 * closes.
 *
 * @param tenants one of the components; null if everyone sees everything
 */
public record ServerComponents(
    ServerTelemetry telemetry, Components components, Clocks clocks, AccessFile tenants)
    implements AutoCloseable {
  @Override
  public void close() {
    components.close();
  }
}
