package org.traceetl.server.profile;

import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.config.Profile;

/** A profile whose series are more than copies of attributes. */
public interface MappedSpansProfile extends Profile {
  /**
   * The parts of a server with this profile, yet to be started.
   *
   * @throws IllegalArgumentException if a file that the configuration names cannot be used
   */
  ProfileParts parts(CoreConfig config);
}
