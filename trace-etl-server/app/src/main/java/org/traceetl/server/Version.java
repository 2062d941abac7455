package org.traceetl.server;

/** Of this build. */
final class Version {
  private Version() {}

  /** As in the jar's manifest; {@code development} where there is none. */
  static String text() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
