package org.traceetl.perf.simulate;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import java.util.function.BiConsumer;
import org.slf4j.LoggerFactory;

/** Passes the log lines of the simulated programs to a run, in place of the console. */
final class ProgramLog {
  private static final int MAX_FRAMES = 12;

  private ProgramLog() {}

  /**
   * Replaces the receiver of all log lines in this JVM.
   *
   * @param receiver of the thread's name and the line
   */
  static void passTo(BiConsumer<String, String> receiver) {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    context.reset();
    AppenderBase<ILoggingEvent> appender =
        new AppenderBase<>() {
          @Override
          protected void append(ILoggingEvent event) {
            receiver.accept(event.getThreadName(), line(event));
          }
        };
    appender.setContext(context);
    appender.start();
    Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.WARN);
    context.getLogger("org.traceetl").setLevel(Level.INFO);
    root.addAppender(appender);
  }

  private static String line(ILoggingEvent event) {
    String logger = event.getLoggerName();
    StringBuilder line =
        new StringBuilder()
            .append(event.getLevel())
            .append(' ')
            .append(logger.substring(logger.lastIndexOf('.') + 1))
            .append(": ")
            .append(event.getFormattedMessage());
    for (IThrowableProxy cause = event.getThrowableProxy();
        cause != null;
        cause = cause.getCause()) {
      line.append(" | ").append(cause.getClassName()).append(": ").append(cause.getMessage());
      for (int i = 0;
          i < Math.min(MAX_FRAMES, cause.getStackTraceElementProxyArray().length);
          i++) {
        line.append(" < ").append(cause.getStackTraceElementProxyArray()[i].getStackTraceElement());
      }
    }
    return line.toString();
  }
}
