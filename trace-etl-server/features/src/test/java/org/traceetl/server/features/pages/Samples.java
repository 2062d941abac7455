package org.traceetl.server.features.pages;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a page says, read back by the book: samples by name and labels, exemplars, families. A line
 * of OpenMetrics 2.0 gives the samples of version 1.0, but the exemplar of a histogram has its name
 * and labels.
 */
final class Samples {
  /**
   * @param labels in the order of their names
   */
  record Key(String name, Map<String, String> labels) {}

  private static final Pattern FIELD = Pattern.compile("(\\w+):(\\[[^\\]]*]|[^,]+)");

  record Exemplar(Map<String, String> labels, BigDecimal value, BigDecimal timestamp) {}

  final Map<Key, BigDecimal> values = new HashMap<>();
  final Map<Key, Exemplar> exemplars = new HashMap<>();

  /** By histogram: spans by index as Prometheus has it; the zero bucket is at {@code MIN_VALUE}. */
  final Map<Key, Map<Integer, Long>> natives = new HashMap<>();

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
    boolean isComposite = line.charAt(at) == '{';
    if (isComposite) {
      composite(key);
    } else {
      put(key, number());
    }
    if (line.startsWith(" st@", at)) {
      at += " st@".length();
      String family = isComposite ? name : name.replaceAll("_total$", "");
      put(new Key(family + "_created", key.labels), number());
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

  private void put(Key key, BigDecimal value) {
    if (values.put(key, value) != null) {
      throw new AssertionError("twice on the page: " + key);
    }
  }

  /** Reads the value of a histogram. */
  private void composite(Key key) {
    expect('{');
    Map<String, String> fields = new TreeMap<>();
    Matcher field = FIELD.matcher(until('}'));
    while (field.find()) {
      if (fields.put(field.group(1), field.group(2)) != null) {
        throw new AssertionError("field twice: " + line);
      }
    }
    put(new Key(key.name + "_count", key.labels), new BigDecimal(fields.remove("count")));
    put(new Key(key.name + "_sum", key.labels), new BigDecimal(fields.remove("sum")));
    for (String pair : list(fields.remove("bucket"))) {
      Map<String, String> labels = new TreeMap<>(key.labels);
      labels.put("le", pair.substring(0, pair.indexOf(':')));
      put(
          new Key(key.name + "_bucket", labels),
          new BigDecimal(pair.substring(pair.indexOf(':') + 1)));
    }
    if (fields.remove("schema") != null) {
      natives.put(key, natives(fields));
    }
    if (!fields.isEmpty()) {
      throw new AssertionError("fields " + fields + " of " + line);
    }
  }

  private static Map<Integer, Long> natives(Map<String, String> fields) {
    if (Double.parseDouble(fields.remove("zero_threshold")) <= 0) {
      throw new AssertionError("no zero bucket");
    }
    Map<Integer, Long> natives = new TreeMap<>();
    long zero = Long.parseLong(fields.remove("zero_count"));
    if (zero > 0) {
      natives.put(Integer.MIN_VALUE, zero);
    }
    Iterator<String> spans = list(fields.remove("positive_buckets")).iterator();
    int index = 0;
    for (String span : list(fields.remove("positive_spans"))) {
      index += Integer.parseInt(span.substring(0, span.indexOf(':')));
      for (int i = Integer.parseInt(span.substring(span.indexOf(':') + 1)); i > 0; i--) {
        natives.put(index++, Long.parseLong(spans.next()));
      }
    }
    if (spans.hasNext()) {
      throw new AssertionError("a bucket in no span");
    }
    return natives;
  }

  private static List<String> list(String field) {
    return field == null ? List.of() : List.of(field.substring(1, field.length() - 1).split(","));
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
