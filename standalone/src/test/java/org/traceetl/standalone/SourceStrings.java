package org.traceetl.standalone;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The strings of a Java source, with concatenated parts joined; "{}" stands for an expression. */
final class SourceStrings {
  private static final Pattern TOKEN =
      Pattern.compile(
          "(?s)//[^\n]*|/\\*.*?\\*/|\"\"\"(?<block>.*?)\"\"\"|\"(?<string>[^\"\\\\\n]*+(?:\\\\.[^\"\\\\\n]*+)*+)\""
              + "|'(?:[^'\\\\\n]|\\\\[^\n]{1,5}?)'");
  private static final Pattern JOINED = Pattern.compile("\\s*\\+\\s*");
  private static final Pattern JOINED_BY_EXPRESSION = Pattern.compile("(?s)\\s*\\+[^;{}]*\\+\\s*");

  private SourceStrings() {}

  static List<String> of(String source) {
    List<String> strings = new ArrayList<>();
    StringBuilder current = null;
    int end = 0;
    for (MatchResult token : TOKEN.matcher(source).results().toList()) {
      String string = token.group("string") != null ? token.group("string") : token.group("block");
      if (string == null) {
        continue;
      }
      String between = source.substring(end, token.start());
      if (current != null && JOINED.matcher(between).matches()) {
        current.append(string);
      } else if (current != null && JOINED_BY_EXPRESSION.matcher(between).matches()) {
        current.append("{}").append(string);
      } else {
        if (current != null) {
          strings.add(current.toString());
        }
        current = new StringBuilder(string);
      }
      end = token.end();
    }
    if (current != null) {
      strings.add(current.toString());
    }
    return strings.stream()
        .map(string -> string.replace("\\\"", "\"").replace("%s", "{}"))
        .toList();
  }
}
