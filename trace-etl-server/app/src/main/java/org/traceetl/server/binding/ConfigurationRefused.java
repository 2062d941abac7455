package org.traceetl.server.binding;

/** The configuration is invalid. The message is for the operator. */
public final class ConfigurationRefused extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ConfigurationRefused(String message, Throwable cause) {
    super(message, cause);
  }
}
