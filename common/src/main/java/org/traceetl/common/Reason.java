package org.traceetl.common;

/** The reason of a failure as text for one line of a log. */
public final class Reason {
  private Reason() {}

  /** Returns the first line of the message, without names of exceptions if there is a message. */
  public static String of(Throwable failure) {
    Throwable told = failure;
    // A message that was made of the cause begins with the name of its class.
    while (told.getCause() != null
        && (told.getMessage() == null || told.getMessage().equals(told.getCause().toString()))) {
      told = told.getCause();
    }
    String message = told.getMessage();
    return message == null || message.isBlank()
        ? told.getClass().getSimpleName()
        : message.strip().lines().findFirst().orElseThrow();
  }
}
