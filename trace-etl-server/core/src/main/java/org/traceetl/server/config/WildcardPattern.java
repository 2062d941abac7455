package org.traceetl.server.config;

import java.util.regex.Pattern;

/** A pattern for a whole string in which {@code *} matches any characters or none. */
public final class WildcardPattern {
  private final Pattern pattern;

  public WildcardPattern(String glob) {
    StringBuilder regex = new StringBuilder();
    int literal = 0;
    for (int i = 0; i < glob.length(); i++) {
      if (glob.charAt(i) == '*') {
        regex.append(Pattern.quote(glob.substring(literal, i))).append(".*");
        literal = i + 1;
      }
    }
    regex.append(Pattern.quote(glob.substring(literal)));
    pattern = Pattern.compile(regex.toString(), Pattern.DOTALL);
  }

  public boolean matches(String text) {
    return pattern.matcher(text).matches();
  }
}
