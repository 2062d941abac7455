package org.traceetl.server;

import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The version of this build, which commands print with their name. */
public final class Version implements IVersionProvider {
  @Spec private CommandSpec spec;

  @Override
  public String[] getVersion() {
    return new String[] {spec.qualifiedName() + " " + text()};
  }

  /** Returns the version from the jar's manifest; {@code development} without one. */
  static String text() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
