package org.traceetl.server.log;

/** Texts of clients, made fit for a line of a log or a terminal. */
public final class Printable {
  private Printable() {}

  /**
   * The text without control and format characters, which could begin a line of their own, move the
   * cursor or turn the writing around: each is {@code ?}.
   *
   * @param max characters at most; a longer text ends in {@code …}
   */
  public static String of(String text, int max) {
    String cut = text.length() <= max ? text : text.substring(0, max - 1) + "…";
    return cut.replaceAll("[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]", "?");
  }
}
