package org.traceetl.agent.flow;

import java.net.InetAddress;

/**
 * Adds attributes to the resources of payloads, before filters, routes and dimensions see them.
 * Called on the pipeline thread only.
 */
public interface ResourceCompletion {
  /** Adds nothing. */
  ResourceCompletion NONE = (received, sender) -> received;

  /**
   * Returns the attributes of a resource and those that are added; valid until the next call.
   *
   * @param received not changed
   * @param sender address of the payload's sender; null if it has none
   */
  Attributes complete(Attributes received, InetAddress sender);

  /** Releases the arrays of the last resource. Called at the end of each payload. */
  default void forget() {}
}
