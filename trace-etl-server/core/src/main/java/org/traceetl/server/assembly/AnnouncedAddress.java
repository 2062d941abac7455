package org.traceetl.server.assembly;

/** The configuration of the feature that knows under which address others reach this server. */
public interface AnnouncedAddress {
  /** Returns {@code host:port} or {@code host}; null to derive it from the open port. */
  String address();
}
