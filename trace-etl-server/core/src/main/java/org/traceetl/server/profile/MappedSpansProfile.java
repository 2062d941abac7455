package org.traceetl.server.profile;

import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.config.Profile;

/** A profile that computes series from spans instead of copying attributes. */
public interface MappedSpansProfile extends Profile {
  /**
   * Returns the parts of a server with this profile, not started.
   *
   * @throws IllegalArgumentException if a configured file is invalid
   */
  ProfileParts parts(CoreConfig config);
}
