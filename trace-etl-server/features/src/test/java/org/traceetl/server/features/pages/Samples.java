package org.traceetl.server.features.pages;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a page says, read back by the book: samples by name and labels, exemplars, families. */
final class Samples {
  /**
   * @param labels in the order of their names
   */
  record Key(String name, Map<String, String> labels) {}

  record Exemplar(Map<String, String> labels, BigDecimal value, BigDecimal timestamp) {}

  final Map<Key, BigDecimal> values = new HashMap<>();
  final Map<Key, Exemplar> exemplars = new HashMap<>();

  /** Names of families in the order of their first line. */
  final List<String> families = new ArrayList<>();

  private String line;
  private int at;

  static Samples parse(String page) {
    var samples = new Samples();
    for (String line : page.split("\n", -1)) {
      if (line.startsWith("# TYPE ")) {
        samples.families.add(line.split(" ", -1)[2]);
      } else if (!line.isEmpty() && !line.startsWith("#")) {
        samples.sample(line);
      }
    }
    return samples;
  }

  private void sample(String text) {
    line = text;
    at = 0;
    String name = until('{');
    Key key = new Key(name, labels());
    expect(' ');
    BigDecimal value = number();
    if (values.put(key, value) != null) {
      throw new AssertionError("twice on the page: " + key);
    }
    if (at < line.length()) {
      expect(' ');
      expect('#');
      expect(' ');
      expect('{');
      Map<String, String> labels = labels();
      expect(' ');
      BigDecimal exemplar = number();
      expect(' ');
      exemplars.put(key, new Exemplar(labels, exemplar, number()));
    }
    if (at != line.length()) {
      throw new AssertionError("more on the line: " + line);
    }
  }

  private Map<String, String> labels() {
    Map<String, String> labels = new TreeMap<>();
    while (line.charAt(at) != '}') {
      String name = until('=');
      expect('"');
      var value = new StringBuilder();
      while (line.charAt(at) != '"') {
        char c = line.charAt(at++);
        if (c == '\\') {
          char escaped = line.charAt(at++);
          value.append(escaped == 'n' ? '\n' : escaped);
        } else {
          value.append(c);
        }
      }
      expect('"');
      if (labels.put(name, value.toString()) != null) {
        throw new AssertionError("label twice: " + line);
      }
      if (line.charAt(at) == ',') {
        at++;
      }
    }
    at++;
    return labels;
  }

  private BigDecimal number() {
    int end = line.indexOf(' ', at);
    String text = line.substring(at, end < 0 ? line.length() : end);
    at += text.length();
    return new BigDecimal(text);
  }

  private String until(char c) {
    int end = line.indexOf(c, at);
    String text = line.substring(at, end);
    at = end + 1;
    return text;
  }

  private void expect(char c) {
    if (line.charAt(at++) != c) {
      throw new AssertionError("no " + c + " at " + at + " of " + line);
    }
  }
}
