package org.traceetl.server.web;

import org.springframework.boot.logging.LoggingInitializationContext;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

/** The log of a command without a web server: level, format and keys as those of the server. */
public final class ProgramLog {
  private ProgramLog() {}

  /** Sends the log to standard output. */
  public static void toConsole() {
    var environment = new StandardEnvironment();
    environment.getPropertySources().addLast(new MapPropertySource("defaults", WebServer.DEFAULTS));
    LoggingSystem logging = LoggingSystem.get(ProgramLog.class.getClassLoader());
    logging.getSystemProperties(environment).apply();
    logging.beforeInitialize();
    logging.initialize(new LoggingInitializationContext(environment), null, null);
  }
}
