package org.traceetl.agent.filter;

/**
 * Finds a text that every match of a regular expression contains, if that is evident: adjacent
 * literal letters, digits and signs, outside of groups.
 */
final class RequiredText {
  private static final int MOST_BYTES = 32;

  // Literal signs, with or without a backslash.
  private static final String SIGNS = " !\"#%&',/:;<=>@_`~-";

  // Literal signs after a backslash.
  private static final String ESCAPED_SIGNS = ".+*?()[]{}|^$\\" + SIGNS;

  // Letters after a backslash that denote a class, a control character or a position.
  private static final String ESCAPED_LETTERS = "dDwWsSbBAzaftnrv";

  private static final String REPEATS = "*+?{";

  private RequiredText() {}

  /** Returns the longest such text, cut to 32 bytes; empty if none is evident. */
  static String of(String expression) {
    // Another alternative may lack the text; flags change the meaning of letters. A bracket that
    // ends a range begins no named class.
    if (expression.contains("|")
        || expression.contains("(?")
        || expression.contains("\\Q")
        || expression.contains("-[:")) {
      return "";
    }
    String longest = "";
    StringBuilder run = new StringBuilder();
    int at = 0;
    while (at < expression.length()) {
      char c = expression.charAt(at);
      int end = at + 1;
      boolean escaped = c == '\\' && end < expression.length();
      if (escaped) {
        c = expression.charAt(end++);
        if (ESCAPED_SIGNS.indexOf(c) < 0 && ESCAPED_LETTERS.indexOf(c) < 0) {
          // For example a character code, whose digits are not literal.
          return "";
        }
      } else if (c == '[') {
        end = endOfClass(expression, at);
      } else if (c == '(') {
        end = endOfGroup(expression, at);
      }
      boolean plain =
          escaped ? ESCAPED_SIGNS.indexOf(c) >= 0 : isLetterOrDigit(c) || SIGNS.indexOf(c) >= 0;
      boolean repeated = end < expression.length() && REPEATS.indexOf(expression.charAt(end)) >= 0;
      if (plain && !repeated) {
        run.append(c);
      } else {
        longest = longer(longest, run);
        run.setLength(0);
        end = repeated ? endOfRepeat(expression, end) : end;
        if (end < 0) {
          return "";
        }
      }
      at = end;
    }
    longest = longer(longest, run);
    return longest.substring(0, Math.min(longest.length(), MOST_BYTES));
  }

  private static String longer(String longest, StringBuilder run) {
    return run.length() > longest.length() ? run.toString() : longest;
  }

  private static boolean isLetterOrDigit(char c) {
    return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
  }

  /**
   * Returns the index after a bracket class, or the expression's end if it is not closed. The first
   * sign of a class may be a bracket.
   */
  private static int endOfClass(String expression, int from) {
    int at = from + 1;
    if (at < expression.length() && expression.charAt(at) == '^') {
      at++;
    }
    if (at < expression.length() && expression.charAt(at) == ']') {
      at++;
    }
    while (at < expression.length() && expression.charAt(at) != ']') {
      if (expression.startsWith("[:", at)) {
        int named = expression.indexOf(":]", at + 2);
        at = named < 0 ? at + 1 : named + 2;
      } else {
        at += expression.charAt(at) == '\\' ? 2 : 1;
      }
    }
    return Math.min(at + 1, expression.length());
  }

  private static int endOfGroup(String expression, int from) {
    int depth = 1;
    int at = from + 1;
    while (at < expression.length() && depth > 0) {
      char c = expression.charAt(at);
      if (c == '[') {
        at = endOfClass(expression, at);
        continue;
      }
      if (c == '\\') {
        at++;
      } else if (c == '(') {
        depth++;
      } else if (c == ')') {
        depth--;
      }
      at++;
    }
    return Math.min(at, expression.length());
  }

  /** Returns the index after the repetitions; -1 for a literal brace. */
  private static int endOfRepeat(String expression, int from) {
    int at = from;
    while (at < expression.length() && REPEATS.indexOf(expression.charAt(at)) >= 0) {
      if (expression.charAt(at) == '{') {
        int close = expression.indexOf('}', at);
        if (close < 0 || !expression.substring(at + 1, close).matches("[0-9]+(,[0-9]*)?")) {
          return -1;
        }
        at = close;
      }
      at++;
    }
    return at;
  }
}
