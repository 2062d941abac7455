package org.traceetl.server;

/** Returns the version of this build. */
final class Version {
  private Version() {}

  /** Returns the version from the jar's manifest; {@code development} without one. */
  static String text() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
