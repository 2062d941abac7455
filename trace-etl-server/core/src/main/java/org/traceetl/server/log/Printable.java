package org.traceetl.server.log;

/** Makes texts from clients safe for a line of a log or a terminal. */
public final class Printable {
  private Printable() {}

  /**
   * Returns the text with {@code ?} for each control and format character, which could start a new
   * line, move the cursor or reverse the writing.
   *
   * @param max maximum number of characters; a longer text ends in {@code …}
   */
  public static String of(String text, int max) {
    String cut = text.length() <= max ? text : text.substring(0, max - 1) + "…";
    return cut.replaceAll("[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]", "?");
  }
}
