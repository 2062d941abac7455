package org.traceetl.testkit;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A sample of a page in one of Prometheus' text formats.
 *
 * @param labels with their values as the page escapes them
 */
public record PageSample(String name, SortedMap<String, String> labels, double value) {
  private static final Pattern SAMPLE =
      Pattern.compile(
          "(?m)^([a-zA-Z_:][\\w:]*)"
              + "(?:\\{([^\"}]*+(?:\"[^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+\"[^\"}]*+)*+)})? (\\S+)");
  private static final Pattern LABEL =
      Pattern.compile("(\\w+)=\"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)\"");
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /** Returns all samples of a page, without exemplars and timestamps. */
  public static List<PageSample> of(String page) {
    return SAMPLE
        .matcher(page)
        .results()
        .map(sample -> {
          SortedMap<String, String> labels = new TreeMap<>();
          if (sample.group(2) != null) {
            LABEL
                .matcher(sample.group(2))
                .results()
                .forEach(label -> labels.put(label.group(1), label.group(2)));
          }
          return new PageSample(
              sample.group(1),
              labels,
              Double.parseDouble(sample.group(3).replace("Inf", "Infinity")));
        })
        .toList();
  }

  /**
   * Requests a page.
   *
   * @throws IOException if the answer is not a page
   */
  public static List<PageSample> of(HttpClient http, URI page)
      throws IOException, InterruptedException {
    HttpResponse<String> response =
        http.send(
            HttpRequest.newBuilder(page).timeout(PATIENCE).build(),
            HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200) {
      throw new IOException(page + " answered " + response.statusCode());
    }
    return of(response.body());
  }

  /** Returns the sum of all samples of a metric; 0 if there are none. */
  public static double sum(List<PageSample> samples, String name) {
    return samples.stream()
        .filter(sample -> sample.name.equals(name))
        .mapToDouble(PageSample::value)
        .sum();
  }

  /** Returns the sums of a metric's samples by name and labels. */
  public static Map<String, Double> sums(List<PageSample> samples, String name) {
    return samples.stream()
        .filter(sample -> sample.name.equals(name))
        .collect(
            Collectors.toMap(PageSample::series, PageSample::value, Double::sum, TreeMap::new));
  }

  /** Returns the sample without a label. */
  public PageSample without(String label) {
    if (!labels.containsKey(label)) {
      return this;
    }
    SortedMap<String, String> others = new TreeMap<>(labels);
    others.remove(label);
    return new PageSample(name, others, value);
  }

  /** Returns the name, and the labels in alphabetical order if there are any. */
  public String series() {
    return labels.isEmpty()
        ? name
        : name
            + labels.entrySet().stream()
                .map(label -> label.getKey() + "=\"" + label.getValue() + "\"")
                .collect(Collectors.joining(",", "{", "}"));
  }
}
