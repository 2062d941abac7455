package org.traceetl.server.binding;

/** The configuration cannot be run. The message is for the person who wrote it. */
public final class ConfigurationRefused extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ConfigurationRefused(String message, Throwable cause) {
    super(message, cause);
  }
}
